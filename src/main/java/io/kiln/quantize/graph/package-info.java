// SPDX-License-Identifier: Apache-2.0
/** A float network as the operators of TensorFlow Lite would have it: layers with their biases and clamps. */
package io.kiln.quantize.graph;
