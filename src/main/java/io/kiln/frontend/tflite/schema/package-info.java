// SPDX-License-Identifier: Apache-2.0
/**
 * The numbers of TensorFlow Lite's schema (tensorflow/compiler/mlir/lite/schema/schema.fbs, version 3): operator codes, tables and their
 * fields, enums. Nothing outside this package states such a number.
 */
package io.kiln.frontend.tflite.schema;
