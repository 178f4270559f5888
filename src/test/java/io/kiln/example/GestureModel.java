// SPDX-License-Identifier: Apache-2.0
package io.kiln.example;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.tensorflow.lite.schema.BuiltinOperator;

/** Quantizes the trained network and writes it as a TFLite model. */
final class GestureModel {
    private static final int CALIBRATION_SAMPLES = 200;
    private static final long CALIBRATION_SEED = 7;

    /** Readings beyond 2 g are cut off. */
    private static final double LARGEST_READING = 2;

    private final TfliteModelBuilder model = new TfliteModelBuilder();
    private final GestureNetwork network;
    private final List<Quantized.Range> ranges = new ArrayList<>();
    private final Quantized.Range logits = new Quantized.Range();

    private GestureModel(GestureNetwork network) {
        this.network = network;
        for (int i = 0; i <= network.features.size(); i++) {
            ranges.add(new Quantized.Range());
        }
        ranges.get(0).see(new double[][] {{-LARGEST_READING, LARGEST_READING}});
    }

    /** The model file; always the same bytes. */
    static byte[] write() {
        GestureModel model = new GestureModel(GestureNetwork.train());
        model.calibrate();
        return model.emit();
    }

    /** A sample as the model takes it. */
    static byte[] input(double[][] sample) {
        Quantized.Range range = new Quantized.Range();
        range.see(new double[][] {{-LARGEST_READING, LARGEST_READING}});
        byte[] input = new byte[Gesture.LENGTH * Gesture.AXES];
        for (int i = 0; i < input.length; i++) {
            double reading = sample[i / Gesture.AXES][i % Gesture.AXES];
            double steps = Math.rint(reading / range.scale()) + range.zeroPoint();
            input[i] = (byte) Math.max(-128, Math.min(127, steps));
        }
        return input;
    }

    private void calibrate() {
        Random random = new Random(CALIBRATION_SEED);
        for (int i = 0; i < CALIBRATION_SAMPLES; i++) {
            Gesture gesture = Gesture.LABELS.get(i % Gesture.LABELS.size());
            GestureNetwork.Trace trace = network.run(gesture.sample(random));
            for (int layer = 1; layer < ranges.size(); layer++) {
                ranges.get(layer).see(trace.values().get(layer));
            }
            logits.see(trace.logits());
        }
    }

    private byte[] emit() {
        int input = model.tensor(ranges.get(0).tensor("acceleration", 1, Gesture.LENGTH, 1, Gesture.AXES));
        int value = input;
        int length = Gesture.LENGTH;
        for (int i = 0; i < network.features.size(); i++) {
            length = (length + network.features.get(i).stride - 1) / network.features.get(i).stride;
            value = emitConvolution(i, value, length);
        }
        int channels = network.classifier.in;
        Quantized.Range last = ranges.get(network.features.size());
        int mean = model.tensor(last.tensor("mean", 1, 1, 1, channels));
        model.operator(
                BuiltinOperator.AVERAGE_POOL_2D,
                2,
                Options.pool(Options.VALID, 1, 1, length, 1, Options.NO_ACTIVATION),
                new int[] {value},
                mean);
        int flat = model.tensor(last.tensor("flat", 1, channels));
        int shape = model.tensor(TensorSpec.int32("flat_shape", 1, channels));
        model.operator(BuiltinOperator.RESHAPE, 1, Options.reshape(1, channels), new int[] {mean, shape}, flat);
        int result = emitClassifier(flat, last.scale());
        return model.inputs(input).outputs(result).build();
    }

    private int emitConvolution(int index, int value, int length) {
        TrainableConvolution layer = network.features.get(index);
        String name = (layer.depthwise ? "depthwise" : "conv") + index;
        int taps = layer.weights.values.length / layer.out;
        TensorSpec weights = layer.depthwise
                ? Quantized.weights(
                        name + "_weights",
                        layer.weights.values,
                        layer.out,
                        3,
                        i -> i % layer.out,
                        1,
                        layer.kernel,
                        1,
                        layer.out)
                : Quantized.weights(
                        name + "_weights",
                        layer.weights.values,
                        layer.out,
                        0,
                        i -> i / taps,
                        layer.out,
                        layer.kernel,
                        1,
                        layer.in);
        TensorSpec bias = Quantized.bias(
                name + "_bias", layer.bias.values, ranges.get(index).scale(), weights);
        int[] inputs = {value, model.tensor(weights), model.tensor(bias)};
        int output = model.tensor(ranges.get(index + 1).tensor(name, 1, length, 1, layer.out));
        Options options = layer.depthwise
                ? Options.depthwise(Options.SAME, layer.stride, 1, 1, Options.RELU, 1, 1)
                : Options.conv2d(Options.SAME, layer.stride, 1, Options.RELU, 1, 1);
        model.operator(
                layer.depthwise ? BuiltinOperator.DEPTHWISE_CONV_2D : BuiltinOperator.CONV_2D,
                3,
                options,
                inputs,
                output);
        return output;
    }

    private int emitClassifier(int flat, float inputScale) {
        TrainableConvolution layer = network.classifier;
        TensorSpec weights =
                Quantized.weights("dense_weights", layer.weights.values, 1, 0, i -> 0, layer.out, layer.in);
        TensorSpec bias = Quantized.bias("dense_bias", layer.bias.values, inputScale, weights);
        int[] inputs = {flat, model.tensor(weights), model.tensor(bias)};
        int dense = model.tensor(logits.tensor("logits", 1, layer.out));
        model.operator(
                BuiltinOperator.FULLY_CONNECTED,
                4,
                Options.fullyConnected(Options.NO_ACTIVATION, false),
                inputs,
                dense);
        int result = model.tensor(TensorSpec.int8("gesture", 1f / 256, -128, 1, layer.out));
        model.operator(BuiltinOperator.SOFTMAX, 2, Options.softmax(1f), new int[] {dense}, result);
        return result;
    }
}
