// SPDX-License-Identifier: Apache-2.0
/** The graph executor's side of a model: operators that programs find by their names, and the graph that tells in which order they run. */
package io.kiln.executor.graph;
