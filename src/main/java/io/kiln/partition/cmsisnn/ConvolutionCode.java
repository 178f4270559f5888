// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.lower.Requantization;
import io.kiln.partition.ExternalCall;
import io.kiln.partition.ExternalFunction;
import io.kiln.partition.Match;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Calls of {@code arm_convolve_wrapper_*} and {@code arm_depthwise_conv_wrapper_*}. */
final class ConvolutionCode {
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
        Optional<Constant> bias = LayerTables.bias(match);
        Requantization by = LayerConditions.requantization(match);
        int channels = output.dim(3);
        List<ExternalCall.Table> tables = new ArrayList<>();
        tables.add(LayerTables.filter(match));
        tables.add(LayerTables.perChannel("multiplier", by.multipliers(), channels));
        bias.map(LayerTables::bias).ifPresent(tables::add);
        tables.add(LayerTables.perChannel("shift", by.shifts(), channels));
        long bytes = contextBytes();
        List<String> lines = declarations(by, bytes);
        boolean hasStruct = isWide && !isDepthwise && options.version().hasBiasStruct();
        String data = bias.isPresent() ? "bias_" : "NULL";
        if (hasStruct) {
            lines.add("const cmsis_nn_bias_data bias = {.data = " + data + ", .is_int32_bias = false};");
        }
        String function =
                (isDepthwise ? "arm_depthwise_conv_wrapper_" : "arm_convolve_wrapper_") + CompositeCode.suffix(match);
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
        int zeroPoint = LayerTables.zeroPoint(match.root(), Layer.INPUT_ZERO_POINT);
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
