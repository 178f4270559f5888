// SPDX-License-Identifier: Apache-2.0
/** Reads the file format, protobuf messages of ONNX's schema, and its external data. Only this package knows the schema's classes. */
package io.kiln.frontend.onnx.reader;
