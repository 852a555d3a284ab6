// Making elements. Text is always text, never markup.

type Child = Node | string;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: { className?: string; title?: string; text?: string; attributes?: Record<string, string> } = {},
  children: Child[] = [],
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (properties.className !== undefined) element.className = properties.className;
  if (properties.title !== undefined) element.title = properties.title;
  if (properties.text !== undefined) element.textContent = properties.text;
  for (const [name, value] of Object.entries(properties.attributes ?? {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function button(text: string, title: string, press: () => void): HTMLButtonElement {
  const made = el("button", { text, title, attributes: { type: "button", "aria-label": title } });
  made.addEventListener("click", press);
  return made;
}

/** Text to be copied: one click selects all of it. */
export function copied(text: string): HTMLElement {
  return el("code", { className: "copied", text, title: "a click selects it" });
}

/** A small square of a colour, beside what it stands for; a frame for what is dashed. */
export function swatch(colour: string, dashed = false): HTMLElement {
  const made = el("span", { className: "swatch" });
  if (dashed) made.style.border = `2px dotted ${colour}`;
  else made.style.background = colour;
  return made;
}

/** A column of a table. */
export interface Column<Row> {
  heading: string;
  unit?: string;
  right?: boolean;
  cell: (row: Row) => Child;
}

export function table<Row>(caption: string, columns: Column<Row>[], rows: Row[], style?: (row: Row, line: HTMLTableRowElement) => void): HTMLElement {
  const head = columns.map(({ heading, unit, right }) => {
    const cell = el("th", { text: heading, className: right === true ? "right" : "", attributes: { scope: "col" } });
    if (unit !== undefined) cell.append(el("br"), el("small", { text: unit }));
    return cell;
  });
  const body = rows.map((row) => {
    const cells = columns.map(({ right, cell }) =>
      el("td", { className: right === true ? "right" : "" }, [cell(row)]),
    );
    const line = el("tr", {}, cells);
    style?.(row, line);
    return line;
  });
  const made = el("table", {}, [el("thead", {}, [el("tr", {}, head)]), el("tbody", {}, body)]);
  if (caption !== "") made.prepend(el("caption", { text: caption }));
  return el("div", { className: "wide" }, [made]);
}
