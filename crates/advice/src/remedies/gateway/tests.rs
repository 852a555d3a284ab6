//! Forecasts of simulated captures.
