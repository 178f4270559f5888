// SPDX-License-Identifier: Apache-2.0
/** Operators that move elements, and those that compute shapes. */
package io.kiln.frontend.onnx.movement;
