//! Discrete-event driver.
