//! Tests of whole reports of simulated runs.

mod sequence_graph;
