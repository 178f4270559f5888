// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.FlexOptions;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.Padding;
import org.tensorflow.lite.schema.TensorType;

/** Layers that remember from one run to the next. */
final class RecurrentOperators {
    private static final int MISSING = -1;
    private static final int LSTM_INPUTS = 24;
    private static final byte TANH = 4;

    static final OperatorCases SVDF_FLOAT = OperatorCases.of("SVDF_FLOAT", d -> svdf(d, TensorType.FLOAT32));

    static final OperatorCases SVDF_INT16 = OperatorCases.of("SVDF_INT16", d -> svdf(d, TensorType.INT16));

    static final OperatorCases SVDF_INT8 = OperatorCases.of("SVDF_INT8", d -> svdf(d, TensorType.INT8))
            .withoutOracle("TensorFlow Lite has no kernel with a state of int8");

    static final OperatorCases LSTM_FLOAT = OperatorCases.of("LSTM_FLOAT", d -> lstm(d, TensorType.FLOAT32));

    static final OperatorCases LSTM_INT8 = OperatorCases.of("LSTM_INT8", d -> lstm(d, TensorType.INT8))
            .roundedOtherwise("TensorFlow Lite computes the gates in another fixed point");

    static final OperatorCases LSTM_INT16 = OperatorCases.of("LSTM_INT16", d -> lstm(d, TensorType.INT16))
            .withoutOracle("TensorFlow Lite has no kernel of int16 data");

    static final OperatorCases CIRCULAR_BUFFER = OperatorCases.of("CIRCULAR_BUFFER", RecurrentOperators::circularBuffer)
            .withoutOracle("TensorFlow Lite has no such operator");

    static final OperatorCases STREAM = OperatorCases.of("STREAM", RecurrentOperators::stream)
            .withoutOracle("TensorFlow Lite has no circular buffers");

    static final List<OperatorCases> ALL =
            List.of(CIRCULAR_BUFFER, STREAM, SVDF_FLOAT, SVDF_INT16, SVDF_INT8, LSTM_FLOAT, LSTM_INT8, LSTM_INT16);

    private RecurrentOperators() {}

    private static void circularBuffer(Draw d) {
        int width = d.between(1, 4);
        int depth = d.between(1, 20);
        int slots = d.between(1, 6);
        TensorSpec x = d.tensor(TensorType.INT8, 1, 1, width, depth);
        TensorSpec kept = alike("slots", x, 1, slots, width, depth);
        int in = d.input(x);
        int cycles = d.between(1, 3);
        int[] out = {d.output(d.coin() ? kept : kept.asVariable())};
        if (cycles > 1 || d.coin()) {
            int valid = d.output(
                    d.coin() ? TensorSpec.of("valid", TensorType.BOOL) : TensorSpec.of("valid", TensorType.BOOL, 1));
            out = new int[] {out[0], valid};
        }
        d.model().custom("CIRCULAR_BUFFER", FlexOptions.of(Map.of("cycles_max", cycles)), new int[] {in}, out);
    }

    /** Rows become one, which enters the slots of which the largest elements are taken. */
    private static void stream(Draw d) {
        int depth = d.between(1, 9);
        int rows = d.between(1, 4);
        int slots = d.between(1, 7);
        int window = d.between(1, slots);
        TensorSpec x = d.tensor(TensorType.INT8, 1, rows, 2, depth);
        int row = d.add(alike("row", x, 1, 1, 2, depth));
        int kept = d.add(alike("slots", x, 1, slots, 2, depth).asVariable());
        int in = d.input(x);
        int y = d.output(alike("y", x, 1, slots - window + 1, 2, depth));
        byte none = 0;
        Options whole = Options.pool(Padding.VALID, 1, 1, rows, 1, none);
        Options largest = Options.pool(Padding.VALID, 1, 1, window, 1, none);
        d.model()
                .operator(BuiltinOperator.MAX_POOL_2D, 2, whole, new int[] {in}, row)
                .custom("CIRCULAR_BUFFER", FlexOptions.of(Map.of("cycles_max", 1)), new int[] {row}, kept)
                .operator(BuiltinOperator.MAX_POOL_2D, 2, largest, new int[] {kept}, y);
    }

    private static TensorSpec alike(String name, TensorSpec other, int... shape) {
        return TensorSpec.of(name, TensorType.INT8, shape)
                .quantized(other.scales().get(0), other.zeroPoints().get(0));
    }

    private static void svdf(Draw d, byte state) {
        boolean isFloat = state == TensorType.FLOAT32;
        byte type = isFloat ? state : TensorType.INT8;
        int rank = d.between(1, 3);
        int units = d.between(1, 12);
        int filters = rank * units;
        int inputs = d.coin() ? d.between(1, 20) : d.between(32, 50);
        int memory = d.between(1, 8);
        int batch = d.between(1, 3);
        TensorSpec x = d.tensor(type, batch, inputs);
        TensorSpec features = d.weights(type, -1, filters, inputs);
        TensorSpec times = state == TensorType.INT16
                ? d.constant(TensorSpec.of("times", state, filters, memory).quantized(d.scale() / 4096, 0))
                : d.weights(state, -1, filters, memory);
        TensorSpec remembered = d.tensor(state, batch, filters * memory);
        if (state == TensorType.INT16) {
            float scale = x.scales().get(0) * features.scales().get(0) * d.between(1, 20);
            remembered = TensorSpec.of("state", state, batch, filters * memory).quantized(scale, 0);
        }
        // TensorFlow Lite's ReLU of this layer alone makes 0 of NaN.
        int data = d.inputOfNumbers(x);
        int[] in = {
            data,
            d.add(features),
            d.add(times),
            d.coin() ? MISSING : d.add(d.constant(TensorSpec.of("bias", isFloat ? type : TensorType.INT32, units))),
            d.add(remembered.asVariable())
        };
        d.output(d.tensor(type, batch, units));
        Options options = Options.table(
                BuiltinOptions.SVDFOptions, Field.int32(0, rank), Field.int8(1, isFloat && d.coin() ? 0 : 1));
        d.operator(BuiltinOperator.SVDF, isFloat ? 1 : 3, options, in);
    }

    private static void lstm(Draw d, byte type) {
        boolean isFloat = type == TensorType.FLOAT32;
        byte weights = isFloat ? type : TensorType.INT8;
        int inputs = d.between(1, 12);
        int units = d.oneOf(1, 2, 5, 8, 9, 33, 37);
        int batch = d.between(1, 3);
        int steps = d.between(1, 6);
        boolean timeMajor = d.coin();
        int first = timeMajor ? steps : batch;
        int second = timeMajor ? batch : steps;
        TensorSpec x = d.tensor(type, first, second, inputs);
        TensorSpec hidden = state(type, 1f / 128, type == TensorType.INT8 ? d.between(-20, 20) : 0, batch, units);
        TensorSpec cell = state(isFloat ? type : TensorType.INT16, 1f / (1 << d.between(9, 14)), 0, batch, units);
        int[] in = new int[LSTM_INPUTS];
        Arrays.fill(in, MISSING);
        in[0] = d.input(x);
        for (int gate = 0; gate < 4; gate++) {
            TensorSpec inputWeights = d.weights(weights, -1, units, inputs);
            in[1 + gate] = d.add(inputWeights);
            in[5 + gate] = d.add(d.weights(weights, -1, units, units));
            in[12 + gate] = d.add(
                    type == TensorType.INT16
                            ? d.constant(TensorSpec.of("bias" + gate, TensorType.INT64, units))
                            : d.bias(x, inputWeights, units));
        }
        in[18] = d.add(hidden.asVariable());
        in[19] = d.add(cell.asVariable());
        TensorSpec y = TensorSpec.of("y", type, first, second, units);
        d.output(
                isFloat
                        ? y
                        : y.quantized(
                                hidden.scales().get(0), hidden.zeroPoints().get(0)));
        d.operator(BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM, 1, lstmOptions(d, timeMajor), in);
        if (type == TensorType.INT8) {
            tellProduct(d, hidden.scales().get(0), hidden.zeroPoints().get(0));
        }
    }

    /** TensorFlow Lite reads the scale of the result from an intermediate tensor. */
    private static void tellProduct(Draw d, float scale, long zeroPoint) {
        int told = d.add(TensorSpec.of("product", TensorType.INT8, 1).quantized(scale, zeroPoint));
        d.model().intermediates(told, told, told, told, told);
    }

    private static Options lstmOptions(Draw d, boolean timeMajor) {
        return Options.table(
                BuiltinOptions.UnidirectionalSequenceLSTMOptions,
                Field.int8(0, TANH),
                Field.float32(1, d.oneOf(0f, 0f, 0.75f)),
                Field.float32(2, 0f),
                Field.bool(3, timeMajor));
    }

    private static TensorSpec state(byte type, float scale, int zeroPoint, int batch, int units) {
        TensorSpec state = TensorSpec.of(zeroPoint + "state" + scale, type, batch, units);
        return type == TensorType.FLOAT32 ? state : state.quantized(scale, zeroPoint);
    }
}
