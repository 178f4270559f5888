// SPDX-License-Identifier: Apache-2.0
/** Pictures of graphs for people: what is drawn, where it lies, and the page that shows it. */
package io.kiln.report.graph;
