// SPDX-License-Identifier: Apache-2.0
/** The frontend for ONNX. */
package io.kiln.frontend.onnx;
