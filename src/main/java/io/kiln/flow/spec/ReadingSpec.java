// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.onnx.OnnxIo;

/**
 * How model files are read.
 *
 * @param customOperators operators computed by the user's C functions
 * @param onnxIo layout of the images at the border of an ONNX model
 * @param rounding whose arithmetic the operators of a TensorFlow Lite model have
 */
public record ReadingSpec(CustomOperators customOperators, OnnxIo onnxIo, TfliteRounding rounding) {
    ReadingSpec with(CustomOperators other) {
        return new ReadingSpec(other, onnxIo, rounding);
    }

    ReadingSpec with(OnnxIo other) {
        return new ReadingSpec(customOperators, other, rounding);
    }

    ReadingSpec with(TfliteRounding other) {
        return new ReadingSpec(customOperators, onnxIo, other);
    }
}
