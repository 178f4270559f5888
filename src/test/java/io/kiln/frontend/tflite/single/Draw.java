// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.base.Bytes;
import io.kiln.draw.Choices;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.tflite.FlexOptions;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.ir.Function;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.tensorflow.lite.schema.TensorType;

/**
 * The random numbers of one case, and the model that is made of them: tensors first, then the operator. The same seed gives the same
 * case. Integers that are drawn lie within limits that are both included.
 */
public final class Draw extends Choices {
    private static final int MAX_ELEMENTS = 1500;

    private final TfliteModelBuilder model = new TfliteModelBuilder();
    private final List<Integer> inputs = new ArrayList<>();
    private final List<RandomData> inputData = new ArrayList<>();
    private final List<Integer> outputs = new ArrayList<>();

    /** Places of the outputs whose shapes follow from the inputs'. */
    private final List<Integer> open = new ArrayList<>();

    private int count;
    private boolean isUnsigned;
    private boolean parametersAreInputs;
    private boolean scalesStraddle;
    private boolean biasesAreNarrow;

    Draw(long seed) {
        super(seed);
    }

    /** From now on whatever is int8 is uint8 instead, as in models of TensorFlow 1: 128 more, and weights with a zero point. */
    void unsigned() {
        isUnsigned = true;
    }

    /** From now on parameters of layers are inputs of the model. */
    void computeParameters() {
        parametersAreInputs = true;
    }

    /**
     * From now on the first input's scale, by that of the output, is a number of few bits in single precision alone: many results lie half
     * between two integers, and a multiplier that is derived in double precision rounds them otherwise.
     */
    void straddleScales() {
        scalesStraddle = true;
    }

    /** A scale by which another one is a number of few bits in single precision, and another number in double precision. */
    float straddling(float scale) {
        for (int i = 0; i < 1000; i++) {
            float quotient = between(1, 40) / 16f;
            float divisor = scale / quotient;
            for (float by : new float[] {divisor, Math.nextUp(divisor), Math.nextDown(divisor)}) {
                if (scale / by == quotient && (double) scale / by != quotient) {
                    return by;
                }
            }
        }
        return scale;
    }

    /** From now on a bias of int16 data is int32. */
    void narrowBiases() {
        biasesAreNarrow = true;
    }

    /** Adds weights or a bias. */
    int parameter(TensorSpec tensor) {
        return parametersAreInputs ? input(tensor.withData(), RandomData.weights(tensor)) : add(tensor);
    }

    @SafeVarargs
    public final <T> T oneOf(T... choices) {
        T chosen = choices[random.nextInt(choices.length)];
        for (T choice : choices) {
            if (isUnsigned && choice.equals(TensorType.INT8)) {
                return choice;
            }
        }
        return chosen;
    }

    /** A fused activation: NONE, RELU, RELU_N1_TO_1 or RELU6. */
    public byte activation() {
        return (byte) (coin() ? 0 : between(0, 3));
    }

    /** A scale between 2^-9 and 1, as activations have. */
    public float scale() {
        return (float) Math.exp(-random.nextFloat() * 9 * Math.log(2));
    }

    /** A shape of some rank; every third dimension is 1, few have more than 7, and there are at most 1500 elements. */
    public int[] shape(int minRank, int maxRank) {
        int[] shape = new int[between(minRank, maxRank)];
        int elements = 1;
        for (int i = 0; i < shape.length; i++) {
            int dim = between(1, 3) == 1 ? 1 : between(1, between(1, 8) == 1 ? 40 : 7);
            shape[i] = elements * dim > MAX_ELEMENTS ? 1 : dim;
            elements *= shape[i];
        }
        return shape;
    }

    /** Some integers between two, both included. */
    public int[] numbers(int count, int low, int high) {
        return IntStream.generate(() -> between(low, high)).limit(count).toArray();
    }

    /** A shape that broadcasts to the given one: some dimensions 1, some leading ones missing. */
    public int[] broadcastsTo(int... shape) {
        int from = between(1, 4) == 1 ? between(0, shape.length - 1) : 0;
        int[] dims = Arrays.copyOfRange(shape, from, shape.length);
        for (int i = 0; i < dims.length; i++) {
            dims[i] = between(1, 4) == 1 ? 1 : dims[i];
        }
        return dims;
    }

    /** As {@link #tensor(byte, int...)}. */
    public TensorSpec tensor(byte type, List<Integer> shape) {
        return tensor(type, toArray(shape));
    }

    /** A tensor that the model computes or takes; int8, uint8 and int16 get a scale, and but for int16 a zero point. */
    public TensorSpec tensor(byte type, int... shape) {
        TensorSpec tensor = TensorSpec.of("t" + count++, type, shape);
        return switch (type) {
            case TensorType.INT8 -> tensor.quantized(scale(), between(-128, 127));
            case TensorType.UINT8 -> tensor.quantized(scale(), between(0, 255));
            case TensorType.INT16 -> tensor.quantized(scale() / 64, 0);
            default -> tensor;
        };
    }

    /** A tensor of the same type and quantization as another. */
    public TensorSpec like(TensorSpec as, int... shape) {
        TensorSpec tensor = tensor(as.type(), shape);
        return as.scales().isEmpty()
                ? tensor
                : tensor.quantized(as.scales().get(0), as.zeroPoints().get(0));
    }

    /** As {@link #like(TensorSpec, int...)}. */
    public TensorSpec like(TensorSpec as, List<Integer> shape) {
        return like(as, toArray(shape));
    }

    /** Symmetric weights with a scale per index of a dimension, int8 for int16 data; a scale for all if the dimension is -1; none for floats. */
    public TensorSpec weights(byte type, int channelDimension, int... shape) {
        if (type == TensorType.INT16) {
            return weights(TensorType.INT8, channelDimension, shape);
        }
        TensorSpec tensor = TensorSpec.of("t" + count++, type, shape);
        if (isUnsigned) {
            return constant(tensor.quantized(scale() / 16, coin() ? 0 : between(-128, 127)));
        }
        if (type != TensorType.FLOAT32) {
            float[] scales = new float[channelDimension < 0 ? 1 : shape[channelDimension]];
            for (int i = 0; i < scales.length; i++) {
                scales[i] = scale() / 16;
            }
            tensor = tensor.quantized(scales, new long[scales.length], Math.max(0, channelDimension));
        }
        return tensor.withData(RandomData.weights(tensor).next(random));
    }

    /** A bias of a layer: int32, or int64 for int16 data, with the scale of data times weights; or float. */
    public TensorSpec bias(TensorSpec data, TensorSpec weights, int channels) {
        if (data.type() == TensorType.FLOAT32) {
            return constant(TensorSpec.float32("t" + count++, channels));
        }
        float[] scales = new float[weights.scales().size()];
        for (int i = 0; i < scales.length; i++) {
            scales[i] = data.scales().get(0) * weights.scales().get(i);
        }
        boolean isWide = data.type() == TensorType.INT16 && !biasesAreNarrow;
        return constant(TensorSpec.of("t" + count++, isWide ? TensorType.INT64 : TensorType.INT32, channels)
                .quantized(scales, new long[scales.length], 0));
    }

    /** The tensor with random data in it. */
    public TensorSpec constant(TensorSpec tensor) {
        return tensor.withData(RandomData.whole(tensor).next(random));
    }

    /** Adds a tensor that is no input of the model: a constant or what is computed on the way. */
    public int add(TensorSpec tensor) {
        return model.tensor(signed(tensor));
    }

    private TensorSpec signed(TensorSpec tensor) {
        return isUnsigned && tensor.type() == TensorType.INT8 ? tensor.asUint8() : tensor;
    }

    /** Adds an input of the model. */
    public int input(TensorSpec tensor) {
        return input(tensor, RandomData.whole(tensor));
    }

    /** Adds an input of which floats may be infinite, or no numbers. */
    public int inputOfAnything(TensorSpec tensor) {
        return input(tensor, RandomData.anything(tensor));
    }

    /** Adds an input whose floats are finite where TensorFlow Lite is asked. */
    public int inputOfNumbers(TensorSpec tensor) {
        return input(tensor, RandomData.numbers(tensor));
    }

    /** Adds an input whose elements lie between two numbers, both included: indices, for instance. */
    public int input(TensorSpec tensor, int low, int high) {
        return input(tensor, RandomData.between(tensor, low, high));
    }

    private int input(TensorSpec tensor, RandomData data) {
        inputs.add(add(tensor));
        inputData.add(data);
        return inputs.get(inputs.size() - 1);
    }

    /** Adds an input of the model or, every fourth time, a constant. */
    public int inputOrConstant(TensorSpec tensor) {
        return between(1, 4) == 1 ? add(constant(tensor)) : input(tensor);
    }

    /** Adds an output of the model. */
    public int output(TensorSpec tensor) {
        boolean moves = scalesStraddle
                && tensor.scales().size() == 1
                && !inputData.get(0).tensor().scales().isEmpty();
        outputs.add(add(
                moves
                        ? tensor.quantized(
                                straddling(inputData.get(0).tensor().scales().get(0)),
                                tensor.zeroPoints().get(0))
                        : tensor));
        return outputs.get(outputs.size() - 1);
    }

    /**
     * Adds an output, of which the shape is that which the operator's card makes of the inputs, and the operator that computes it from all
     * tensors that were added before.
     */
    public void compute(TensorSpec result, int builtin, int version, Options options) {
        int[] in = IntStream.range(0, model.tensors()).toArray();
        result(result);
        operator(builtin, version, options, in);
    }

    /** Adds an output, of which the shape is that which the operator's card makes of the inputs. */
    public int result(TensorSpec tensor) {
        open.add(outputs.size());
        return output(tensor);
    }

    /** Adds the operator, whose outputs are those added so far. */
    public void operator(int builtin, int version, Options options, int... in) {
        model.operator(builtin, version, options, in, toArray(outputs));
    }

    /** Adds a custom operator, whose outputs are those added so far. */
    public void custom(String code, Map<String, Object> options, int... in) {
        model.custom(code, FlexOptions.of(options), in, toArray(outputs));
    }

    /** The model, for what this class has no shorter way for. */
    public TfliteModelBuilder model() {
        return model;
    }

    byte[] build() {
        model.inputs(toArray(inputs)).outputs(toArray(outputs));
        if (!open.isEmpty()) {
            TensorSpec first = inputData.get(0).tensor();
            InputShapes shapes = new InputShapes(Map.of(first.name(), new Shape(first.shape())));
            Function function = TfliteFrontend.read(Bytes.wrap(model.build()), "drawn.tflite", "drawn", shapes);
            var types = function.types();
            for (int i : open) {
                Shape shape = types.get(function.results().get(i).id()).shape();
                model.reshape(outputs.get(i), shape.dims());
            }
        }
        return model.build();
    }

    /** Inputs for some invocations: at random, at the ends of their types, small, with special floats, with denormal ones. */
    List<List<Bytes>> rounds(int rounds) {
        List<List<Bytes>> all = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            List<Bytes> one = new ArrayList<>();
            for (RandomData data : inputData) {
                one.add(Bytes.wrap(data.next(random, round)));
            }
            all.add(one);
        }
        return all;
    }

    private static int[] toArray(List<Integer> values) {
        return values.stream().mapToInt(Integer::intValue).toArray();
    }
}
