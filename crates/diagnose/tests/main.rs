//! Laws of the diagnosis that hold for connections whose truth is known, whatever the stacks and the
//! capture are like.

mod kinds;
mod known;
mod laws;
mod properties;
mod radio;
mod synthetic;
