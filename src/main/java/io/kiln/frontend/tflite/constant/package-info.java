// SPDX-License-Identifier: Apache-2.0
/** Constant tensors: packed, encoded and compressed data. */
package io.kiln.frontend.tflite.constant;
