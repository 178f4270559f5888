// SPDX-License-Identifier: Apache-2.0
/** Reductions: one element for all those along some axes. */
package io.kiln.frontend.onnx.reduce;
