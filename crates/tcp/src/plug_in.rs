//! Copies of boxed plug-ins, so that a connection can be copied with all it knows.

/// Gives boxes of a plug-in trait [`Clone`], by a supertrait that every plug-in that is `Clone` has
/// by itself.
macro_rules! copied_in_boxes {
    ($plug_in:ident, $copied:ident) => {
        /// A plug-in that can be copied: every one that is [`Clone`].
        pub trait $copied {
            /// Itself, as it stands.
            fn boxed_clone(&self) -> Box<dyn $plug_in>;
        }

        impl<T: $plug_in + Clone + 'static> $copied for T {
            fn boxed_clone(&self) -> Box<dyn $plug_in> {
                Box::new(self.clone())
            }
        }

        impl Clone for Box<dyn $plug_in> {
            fn clone(&self) -> Box<dyn $plug_in> {
                (**self).boxed_clone()
            }
        }
    };
}

pub(crate) use copied_in_boxes;
