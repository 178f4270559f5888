// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.arith.TflInt16Softmax;
import io.kiln.ir.arith.TflInt16Softmax.Int16SoftmaxTables;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Pool2d;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.type.Shape;
import io.kiln.lower.Requantization;
import io.kiln.partition.ExternalCall;
import io.kiln.partition.ExternalCall.Table;
import io.kiln.partition.ExternalFunction;
import io.kiln.partition.Match;
import io.kiln.partition.cmsisnn.CmsisNnOptions.BufferSizes;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The C that computes a composite by a function of CMSIS-NN.
 *
 * @param call what its function takes
 * @param declarations of the arguments of CMSIS-NN's function, in C
 * @param function the function of CMSIS-NN
 * @param arguments in C
 * @param status whether the function returns one
 */
record CompositeCode(
        ExternalCall call, List<String> declarations, String function, List<String> arguments, boolean status) {
    private static final int INTEGER_BITS = 5;
    private static final int FRACTION_BITS = 31 - INTEGER_BITS;

    CompositeCode {
        declarations = List.copyOf(declarations);
        arguments = List.copyOf(arguments);
    }

    /** A composite whose function returns a status. */
    CompositeCode(ExternalCall call, List<String> declarations, String function, List<String> arguments) {
        this(call, declarations, function, arguments, true);
    }

    static CompositeCode of(ExternalFunction function, CmsisNnOptions options) {
        return switch (function.composite().name()) {
            case CmsisNnPatterns.CONV2D -> new ConvolutionCode(function, options).code();
            case CmsisNnPatterns.FULLY_CONNECTED -> new DenseCode(function, options).code();
            case CmsisNnPatterns.AVG_POOL2D, CmsisNnPatterns.MAX_POOL2D -> pool(function, options);
            case CmsisNnPatterns.ADD, CmsisNnPatterns.MUL -> new PairCode(function).code();
            case CmsisNnPatterns.SOFTMAX -> softmax(function);
            default ->
                throw new IllegalArgumentException(
                        "no composite " + function.composite().name());
        };
    }

    /** {@code s8} or {@code s16}. */
    static String suffix(Match match) {
        return "s" + 8 * match.result().dtype().bytes();
    }

    /** Smallest value of the result. */
    static long least(Match match) {
        return match.find(Clip.class)
                .map(clip -> Math.round(((Clip) clip.op()).min()))
                .orElse(match.result().dtype().min());
    }

    /** Largest value of the result. */
    static long most(Match match) {
        return match.find(Clip.class)
                .map(clip -> Math.round(((Clip) clip.op()).max()))
                .orElse(match.result().dtype().max());
    }

    /** The initializer of {@code activation}. */
    static String activation(Match match) {
        return ".activation = {.min = " + least(match) + ", .max = " + most(match) + "}";
    }

    static String dims(String name, int n, int h, int w, int c) {
        return "const cmsis_nn_dims " + name + " = {.n = " + n + ", .h = " + h + ", .w = " + w + ", .c = " + c + "};";
    }

    static String context(long bytes) {
        return "const cmsis_nn_context context = {.buf = " + (bytes == 0 ? "NULL" : "context_") + ", .size = " + bytes
                + "};";
    }

    /** Calls of {@code arm_fully_connected_*}. */
    private static final class DenseCode {
        private final Match match;
        private final CmsisNnOptions options;
        private final Shape weight;
        private final int inputOffset;

        DenseCode(ExternalFunction function, CmsisNnOptions options) {
            this.match = function.body();
            this.options = options;
            this.weight = match.argument(match.root(), 1).shape();
            this.inputOffset = -zeroPoint(match.root(), Layer.INPUT_ZERO_POINT);
        }

        CompositeCode code() {
            Optional<Constant> bias = bias(match);
            Requantization by = LayerConditions.requantization(match);
            List<ExternalCall.Table> tables = new ArrayList<>();
            tables.add(filter(match));
            bias.map(CompositeCode::bias).ifPresent(tables::add);
            List<String> lines = new ArrayList<>();
            if (takesSums()) {
                tables.add(ints("kernel_sum", sums(bias)));
                lines.add("const cmsis_nn_context context = {.buf = (void*)kernel_sum_, .size = "
                        + weight.dim(0) * Integer.BYTES + "};");
            } else {
                lines.add(CompositeCode.context(0));
            }
            lines.addAll(params(by));
            String function = "arm_fully_connected_" + CompositeCode.suffix(match);
            return new CompositeCode(
                    new ExternalCall(tables, 0, function),
                    lines,
                    function,
                    List.of(
                            "&context",
                            "&fc_params",
                            "&quant_params",
                            "&input_dims",
                            "input_",
                            "&filter_dims",
                            "filter_",
                            "&bias_dims",
                            bias.isPresent() ? "bias_" : "NULL",
                            "&output_dims",
                            "output_"));
        }

        private List<String> params(Requantization by) {
            int batch = match.result().shape().dim(0);
            int depth = weight.dim(1);
            int units = weight.dim(0);
            return List.of(
                    "const cmsis_nn_fc_params fc_params = {.input_offset = " + inputOffset
                            + ", .filter_offset = 0, .output_offset = " + by.outputZeroPoint() + ", "
                            + CompositeCode.activation(match) + "};",
                    "const cmsis_nn_per_tensor_quant_params quant_params = {.multiplier = "
                            + by.multipliers().get(0) + ", .shift = "
                            + by.shifts().get(0) + "};",
                    CompositeCode.dims("input_dims", batch, 1, 1, depth),
                    CompositeCode.dims("filter_dims", depth, 1, 1, units),
                    CompositeCode.dims("bias_dims", 1, 1, 1, units),
                    CompositeCode.dims("output_dims", batch, 1, 1, units));
        }

        private boolean takesSums() {
            return options.isMve()
                    && options.version().takesKernelSums()
                    && match.result().dtype() == DType.INT8;
        }

        /** What {@code arm_vector_sum_s8} would compute: the sum of each unit's weights, or with the input's offset and the bias. */
        private int[] sums(Optional<Constant> bias) {
            Constant weights = match.root().constant(1);
            boolean isWhole = options.version().hasWholeKernelSums();
            int[] sums = new int[weight.dim(0)];
            for (int unit = 0; unit < sums.length; unit++) {
                int sum = 0;
                for (int i = 0; i < weight.dim(1); i++) {
                    sum += (int) weights.integer(unit * weight.dim(1) + i);
                }
                int added = unit;
                int extra = bias.map(constant -> (int) constant.integer(added)).orElse(0);
                sums[unit] = isWhole ? sum * inputOffset + extra : sum;
            }
            return sums;
        }
    }

    /** Calls of {@code arm_elementwise_add_*} and {@code arm_elementwise_mul_*}. */
    private static final class PairCode {
        private final ExternalFunction function;
        private final Match match;
        private final Binding root;

        PairCode(ExternalFunction function) {
            this.function = function;
            this.match = function.body();
            this.root = match.root();
        }

        CompositeCode code() {
            boolean isSum = function.composite().name().equals(CmsisNnPatterns.ADD);
            List<ExternalCall.Table> tables = new ArrayList<>();
            String lhs = operand(0, tables);
            String rhs = operand(1, tables);
            List<String> arguments = new ArrayList<>(List.of(lhs, rhs));
            arguments.addAll(isSum ? sum() : product());
            arguments.add(String.valueOf(CompositeCode.least(match)));
            arguments.add(String.valueOf(CompositeCode.most(match)));
            arguments.add(String.valueOf(match.result().shape().elements()));
            String name = (isSum ? "arm_elementwise_add_" : "arm_elementwise_mul_") + CompositeCode.suffix(match);
            return new CompositeCode(new ExternalCall(tables, 0, name), List.of(), name, arguments);
        }

        private List<String> sum() {
            TflAddParameters by = TflAddParameters.of(match.result().dtype(), scale(2), scale(4), scale(6));
            return List.of(
                    offset(3),
                    String.valueOf(by.lhs().multiplier()),
                    String.valueOf(by.lhs().shift()),
                    offset(5),
                    String.valueOf(by.rhs().multiplier()),
                    String.valueOf(by.rhs().shift()),
                    String.valueOf(by.leftShift()),
                    "output_",
                    String.valueOf(zeroPoint(7)),
                    String.valueOf(by.output().multiplier()),
                    String.valueOf(by.output().shift()));
        }

        private List<String> product() {
            QuantizedMultiplier by = QuantizedMultiplier.of((double) scale(2) * scale(4) / scale(6));
            return List.of(
                    offset(3),
                    offset(5),
                    "output_",
                    String.valueOf(zeroPoint(7)),
                    String.valueOf(by.multiplier()),
                    String.valueOf(by.shift()));
        }

        private float scale(int position) {
            return root.constant(position).real(0);
        }

        private int zeroPoint(int position) {
            return CompositeCode.zeroPoint(root, position);
        }

        private String offset(int position) {
            return String.valueOf(-zeroPoint(position));
        }

        /** A parameter; constants become a table as large as the result. */
        private String operand(int index, List<ExternalCall.Table> tables) {
            Arg arg = root.args().get(index);
            if (arg instanceof Arg.Ref ref) {
                return ExternalCall.input(function, match.inputs().indexOf(ref.id()));
            }
            Constant constant = (Constant) arg;
            DType dtype = constant.type().dtype();
            String name = "operand_" + index;
            tables.add(new ExternalCall.Table(
                    name, dtype, spread(constant, match.result().shape().elements())));
            return name + "_";
        }

        private static Bytes spread(Constant constant, long elements) {
            if (constant.elements() == elements) {
                return constant.data();
            }
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            for (long i = 0; i < elements; i++) {
                all.writeBytes(constant.data().toArray());
            }
            return Bytes.wrap(all.toByteArray());
        }
    }

    /** Calls of {@code arm_convolve_wrapper_*} and {@code arm_depthwise_conv_wrapper_*}. */
    private static final class ConvolutionCode {
        private final Match match;
        private final CmsisNnOptions options;
        private final Window window;
        private final Shape input;
        private final Shape output;
        private final boolean isDepthwise;
        private final boolean isWide;

        ConvolutionCode(ExternalFunction function, CmsisNnOptions options) {
            this.match = function.body();
            this.options = options;
            this.window = LayerConditions.layer(match).geometry();
            this.input = match.argument(match.root(), 0).shape();
            this.output = match.result().shape();
            this.isDepthwise = LayerConditions.isDepthwise(match);
            this.isWide = match.result().dtype() == DType.INT16;
        }

        CompositeCode code() {
            Optional<Constant> bias = bias(match);
            Requantization by = LayerConditions.requantization(match);
            int channels = output.dim(3);
            List<ExternalCall.Table> tables = new ArrayList<>();
            tables.add(filter(match));
            tables.add(perChannel("multiplier", by.multipliers(), channels));
            bias.map(CompositeCode::bias).ifPresent(tables::add);
            tables.add(perChannel("shift", by.shifts(), channels));
            long bytes = contextBytes();
            List<String> lines = declarations(by, bytes);
            boolean hasStruct = isWide && !isDepthwise && options.version().hasBiasStruct();
            String data = bias.isPresent() ? "bias_" : "NULL";
            if (hasStruct) {
                lines.add("const cmsis_nn_bias_data bias = {.data = " + data + ", .is_int32_bias = false};");
            }
            String function = (isDepthwise ? "arm_depthwise_conv_wrapper_" : "arm_convolve_wrapper_")
                    + CompositeCode.suffix(match);
            return new CompositeCode(
                    new ExternalCall(tables, bytes, function),
                    lines,
                    function,
                    List.of(
                            "&context",
                            "&conv_params",
                            "&quant_params",
                            "&input_dims",
                            "input_",
                            "&filter_dims",
                            "filter_",
                            "&bias_dims",
                            hasStruct ? "&bias" : data,
                            "&output_dims",
                            "output_"));
        }

        private List<String> declarations(Requantization by, long bytes) {
            int channels = output.dim(3);
            List<String> lines = new ArrayList<>();
            lines.add(CompositeCode.context(bytes));
            lines.add(params(by));
            lines.add("const cmsis_nn_per_channel_quant_params quant_params = "
                    + "{.multiplier = (int32_t*)multiplier_, .shift = (int32_t*)shift_};");
            lines.add(CompositeCode.dims("input_dims", input.dim(0), input.dim(1), input.dim(2), input.dim(3)));
            lines.add(CompositeCode.dims(
                    "filter_dims",
                    isDepthwise ? 1 : channels,
                    window.kernelH(),
                    window.kernelW(),
                    isDepthwise ? channels : input.dim(3)));
            lines.add(CompositeCode.dims("bias_dims", 1, 1, 1, channels));
            lines.add(CompositeCode.dims("output_dims", output.dim(0), output.dim(1), output.dim(2), channels));
            return lines;
        }

        private String params(Requantization by) {
            int zeroPoint = zeroPoint(match.root(), Layer.INPUT_ZERO_POINT);
            String multiplier = isDepthwise ? ".ch_mult = " + output.dim(3) / input.dim(3) + ", " : "";
            return "const cmsis_nn_" + (isDepthwise ? "dw_" : "") + "conv_params conv_params = {.input_offset = "
                    + -zeroPoint + ", .output_offset = " + by.outputZeroPoint() + ", " + multiplier + ".stride = {.w = "
                    + window.strideW() + ", .h = " + window.strideH() + "}, .padding = {.w = " + window.padLeft()
                    + ", .h = " + window.padTop() + "}, .dilation = {.w = " + window.dilationW() + ", .h = "
                    + window.dilationH() + "}, " + CompositeCode.activation(match) + "};";
        }

        private long contextBytes() {
            BufferSizes sizes = new BufferSizes(options);
            if (isDepthwise) {
                return isWide
                        ? sizes.wideDepthwise(window, input, output.dim(3))
                        : sizes.depthwise(window, input, output.dim(3));
            }
            return isWide ? sizes.wideConvolution(window, input) : sizes.convolution(window, input);
        }
    }

    /** Calls of {@code arm_avgpool_*} and {@code arm_max_pool_*}. */
    private static CompositeCode pool(ExternalFunction function, CmsisNnOptions options) {
        Match match = function.body();
        Window window = ((Pool2d) match.root().op()).window();
        Shape input = match.argument(match.root(), 0).shape();
        Shape output = match.result().shape();
        boolean isAverage = function.composite().name().equals(CmsisNnPatterns.AVG_POOL2D);
        long bytes = isAverage ? new BufferSizes(options).average(input) : 0;
        String name = (isAverage ? "arm_avgpool_" : "arm_max_pool_") + CompositeCode.suffix(match);
        return new CompositeCode(
                new ExternalCall(List.of(), bytes, name),
                List.of(
                        CompositeCode.context(bytes),
                        "const cmsis_nn_pool_params pool_params = {.stride = {.w = " + window.strideW() + ", .h = "
                                + window.strideH() + "}, .padding = {.w = " + window.padLeft() + ", .h = "
                                + window.padTop() + "}, " + CompositeCode.activation(match) + "};",
                        CompositeCode.dims("input_dims", 1, input.dim(1), input.dim(2), input.dim(3)),
                        CompositeCode.dims("filter_dims", 1, window.kernelH(), window.kernelW(), 1),
                        CompositeCode.dims("output_dims", 1, output.dim(1), output.dim(2), output.dim(3))),
                name,
                List.of(
                        "&context",
                        "&pool_params",
                        "&input_dims",
                        "input_",
                        "&filter_dims",
                        "&output_dims",
                        "output_"));
    }

    /** Calls of {@code arm_softmax_*}. */
    private static CompositeCode softmax(ExternalFunction function) {
        Match match = function.body();
        Shape shape = match.result().shape();
        int row = shape.dim(-1);
        String rows = String.valueOf(shape.elements() / row);
        TflSoftmax softmax = (TflSoftmax) match.root().op();
        float beta = softmax.beta();
        float scale = match.root().constant(1).real(0);
        if (match.result().dtype() == DType.INT16) {
            return wide(rows, row, TflInt16Softmax.multiplier(beta, scale), Int16SoftmaxTables.of(softmax.tables()));
        }
        double real = Math.min((double) beta * scale * (1 << FRACTION_BITS), Integer.MAX_VALUE);
        QuantizedMultiplier by = QuantizedMultiplier.of(real);
        long least = -((((1L << INTEGER_BITS) - 1) << FRACTION_BITS) >> by.shift());
        return new CompositeCode(
                ExternalCall.plain("arm_softmax_s8"),
                List.of(),
                "arm_softmax_s8",
                List.of(
                        "input_",
                        rows,
                        String.valueOf(row),
                        String.valueOf(by.multiplier()),
                        String.valueOf(by.shift()),
                        String.valueOf(least),
                        "output_"),
                false);
    }

    private static CompositeCode wide(String rows, int row, QuantizedMultiplier by, Int16SoftmaxTables values) {
        List<ExternalCall.Table> tables =
                List.of(shorts("exponentials", values.exponentials()), shorts("reciprocals", values.reciprocals()));
        return new CompositeCode(
                new ExternalCall(tables, 0, "arm_softmax_s16"),
                List.of("const cmsis_nn_softmax_lut_s16 lut = "
                        + "{.exp_lut = exponentials_, .one_by_one_lut = reciprocals_};"),
                "arm_softmax_s16",
                List.of(
                        "input_",
                        rows,
                        String.valueOf(row),
                        String.valueOf(by.multiplier()),
                        String.valueOf(by.shift()),
                        "&lut",
                        "output_"));
    }

    /** The weights as they are: OHWI, HWOI of depthwise convolutions, rows by outputs of fully connected layers. */
    private static Table filter(Match match) {
        Constant weight = match.root().constant(1);
        return new Table("filter", weight.type().dtype(), weight.data());
    }

    private static Optional<Constant> bias(Match match) {
        return match.find(BiasAdd.class).map(bias -> bias.constant(1));
    }

    private static Table bias(Constant bias) {
        return new Table("bias", bias.type().dtype(), bias.data());
    }

    private static Table perChannel(String name, List<Integer> values, int channels) {
        return ints(
                name,
                IntStream.range(0, channels)
                        .map(c -> values.get(values.size() == 1 ? 0 : c))
                        .toArray());
    }

    private static Table ints(String name, int... values) {
        return new Table(name, DType.INT32, Bytes.ofIntegers(values.length, Integer.BYTES, i -> values[i]));
    }

    private static Table shorts(String name, int... values) {
        return new Table(name, DType.INT16, Bytes.ofIntegers(values.length, Short.BYTES, i -> values[i]));
    }

    private static int zeroPoint(Binding binding, int position) {
        return (int) binding.constant(position).integer(0);
    }
}
