// SPDX-License-Identifier: Apache-2.0
/**
 * The numbers of TensorFlow Lite's schema (tensorflow/compiler/mlir/lite/schema/schema.fbs, version 3): operator codes,
 * tables and their fields, enums. No other package contains such numbers.
 */
package io.kiln.frontend.tflite.schema;
