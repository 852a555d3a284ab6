// esbuild takes styles in by itself.
declare module "*.css";
