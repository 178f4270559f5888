// SPDX-License-Identifier: Apache-2.0
/** Bounds-checked reading of FlatBuffers and FlexBuffers, whatever they contain. */
package io.kiln.frontend.tflite.flatbuffer;
