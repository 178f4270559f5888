// SPDX-License-Identifier: Apache-2.0
/** Recurrent layers, unrolled: one step after the other. */
package io.kiln.frontend.onnx.recurrent;
