// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.layer;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.AVERAGE_POOL_2D;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.CONV_2D;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.DEPTHWISE_CONV_2D;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.FULLY_CONNECTED;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.MAX_POOL_2D;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SOFTMAX;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.TRANSPOSE_CONV;

import io.kiln.frontend.tflite.operator.Registration;
import java.util.List;

/** Layers of convolutional networks. */
public final class LayerImporters {
    public static final List<Registration> ALL = List.of(
            builtin(AVERAGE_POOL_2D, 3, new PoolingImporter(true)).uint8AsInt8(),
            builtin(CONV_2D, 8, new ConvolutionImporter(false)).uint8AsInt8(),
            builtin(DEPTHWISE_CONV_2D, 7, new ConvolutionImporter(true)).uint8AsInt8(),
            builtin(FULLY_CONNECTED, 12, new FullyConnectedImporter()).uint8AsInt8(),
            builtin(MAX_POOL_2D, 3, new PoolingImporter(false)).uint8AsInt8(),
            builtin(SOFTMAX, 3, new SoftmaxImporter()).uint8AsInt8(),
            builtin(TRANSPOSE_CONV, 5, new TransposedConvolutionImporter()).uint8AsInt8());

    private LayerImporters() {}
}
