//! The program from outside: arguments in, output, exit codes and files out.
//!
//! One program for all of them: a test program for each would be linked, loaded and started anew.

mod agent;
mod broken;
mod captures;
mod command_line;
mod common;
mod completions;
mod dashboards;
mod diagnose;
mod gateway;
mod gateway_harm;
mod gateway_trial;
mod gateway_watch;
mod groups;
mod history;
mod history_captures;
mod history_crash;
mod interrupt;
mod kernel;
mod kernel_answers;
mod kernel_programs;
mod kernel_runs;
mod leftovers;
mod linux_profile;
mod linux_states;
mod live;
mod live_run;
mod meter;
mod new;
mod output;
mod packaging;
mod paper;
mod readme;
mod repeat;
mod script;
mod script_against;
mod shell;
mod sweep;
mod terminal;
mod validate;
