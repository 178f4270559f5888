// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.BlockDense;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.type.TensorType;
import io.kiln.transform.FoldChannelFactors.LayerChannelOrder;
import java.util.List;
import java.util.Optional;

/** Gives layers with integer weights and float data their real weights, {@code scale * (weight - zero point)}, also of blocks. */
public final class RealWeights implements Pass {
    @Override
    public String name() {
        return "real-weights";
    }

    @Override
    public Function run(Function function) {
        return function.withBindings(
                function.bindings().stream().map(RealWeights::real).toList());
    }

    private static Binding ofBlocks(Binding binding, BlockDense op) {
        Constant weights = binding.constant(1);
        int depth = weights.type().shape().dim(1);
        int blocks = op.blocks(depth);
        Constant real = real(weights, i -> {
            int block = i / depth * blocks + i % depth / op.block();
            return (weights.integer(i) - binding.constant(3).real(block))
                    * binding.constant(2).real(block);
        });
        return binding.with(new Dense(op.units())).with(List.of(binding.args().get(0), real));
    }

    private static Constant real(Constant weights, Bytes.Reals element) {
        return new Constant(
                weights.name(),
                new TensorType(weights.type().shape(), DType.FLOAT32),
                Bytes.ofReals(weights.elements(), element));
    }

    private static Binding real(Binding binding) {
        if (binding.op() instanceof BlockDense blocks) {
            return ofBlocks(binding, blocks);
        }
        if (!binding.type().dtype().isFloat() || !(binding.op() instanceof Layer)) {
            return binding;
        }
        return floatLayer(binding)
                .map(layer -> binding.with(layer).with(List.of(binding.args().get(0), weights(binding))))
                .orElse(binding);
    }

    private static Optional<Layer> floatLayer(Binding binding) {
        if (!binding.args().subList(1, binding.args().size()).stream().allMatch(Constant.class::isInstance)) {
            return Optional.empty();
        }
        if (binding.op() instanceof QnnConv2d conv) {
            return Optional.of(new Conv2d(conv.window(), conv.groups(), conv.channels(), conv.kernelLayout()));
        }
        return binding.op() instanceof QnnDense dense ? Optional.of(new Dense(dense.units())) : Optional.empty();
    }

    private static Constant weights(Binding binding) {
        Constant weights = binding.constant(1);
        Constant scales = binding.constant(Layer.KERNEL_SCALE);
        long zeroPoint = binding.constant(Layer.KERNEL_ZERO_POINT).integer(0);
        LayerChannelOrder order = LayerChannelOrder.of(binding);
        return real(
                weights,
                i -> scales.real(scales.elements() == 1 ? 0 : order.channel(i)) * (weights.integer(i) - zeroPoint));
    }

    /** Removes the rounding of intermediate values to 16-bit formats: it is far finer than the bytes that a quantizer makes of them. */
    public static final class WholePrecision implements Pass {
        @Override
        public String name() {
            return "whole-precision";
        }

        @Override
        public Function run(Function function) {
            GraphBuilder graph = new GraphBuilder(function);
            for (Binding binding : function.bindings()) {
                boolean isResult = function.results().stream().anyMatch(result -> result.id() == binding.id());
                if (isRounding(binding) && !isResult) {
                    graph.replace(binding.id(), binding.args().get(0));
                } else {
                    graph.keep(binding);
                }
            }
            return function.withBindings(graph.bindings());
        }

        private static boolean isRounding(Binding binding) {
            return binding.op() instanceof Unary unary
                    && (unary.kind() == Unary.Kind.ROUND_FLOAT16 || unary.kind() == Unary.Kind.ROUND_BFLOAT16);
        }
    }
}
