// SPDX-License-Identifier: Apache-2.0
/** Pictures of graphs for people: graph, layout and HTML page. */
package io.kiln.report.graph;
