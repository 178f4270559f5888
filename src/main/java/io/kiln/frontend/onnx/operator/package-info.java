// SPDX-License-Identifier: Apache-2.0
/** What the importers of operators work with: a node in its graph, its values and attributes, and the graph that they build. */
package io.kiln.frontend.onnx.operator;
