// SPDX-License-Identifier: Apache-2.0
/** Reads TensorFlow Lite models (FlatBuffers, schema version 3) into the graph IR. */
package io.kiln.frontend.tflite;
