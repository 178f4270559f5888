// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Channels of a quantized sum, which are computed from the operands' channels. */
final class SumChannels implements ChannelRule {
    @Override
    public ChannelFlow flow(Binding binding, Map<Integer, TensorType> types) {
        boolean tried = ((QnnAdd) binding.op()).rounding() == Rounding.TFLITE
                && binding.type().dtype() == DType.INT8;
        return tried && areWhole(binding, types)
                ? new ChannelFlow.Follows(1, ChannelFlow.channels(binding.type().shape()))
                : new ChannelFlow.Opaque();
    }

    /** Operands may be broadcast only if they are constant. */
    private static boolean areWhole(Binding sum, Map<Integer, TensorType> types) {
        boolean same = true;
        for (Arg operand : List.of(sum.args().get(0), sum.args().get(1))) {
            same &= operand instanceof Constant
                    || types.get(((Arg.Ref) operand).id()).equals(sum.type());
        }
        return same;
    }

    @Override
    public IntFunction<Range> ranges(Binding binding, ChannelRanges known) {
        TflAddParameters by = TflAddParameters.of(
                binding.constant(2).real(0),
                binding.constant(4).real(0),
                binding.constant(6).real(0));
        List<Range> lhs = operand(binding, 0, known);
        List<Range> rhs = operand(binding, 1, known);
        long one = 1L << by.leftShift();
        DType dtype = binding.type().dtype();
        return c -> {
            Range left = lhs.get(c).plus(-binding.constant(3).integer(0)).times(one);
            Range right = rhs.get(c).plus(-binding.constant(5).integer(0)).times(one);
            return left.rescaled(by.lhs().multiplier(), by.lhs().shift())
                    .plus(right.rescaled(by.rhs().multiplier(), by.rhs().shift()))
                    .rescaled(by.output().multiplier(), by.output().shift())
                    .plus(binding.constant(7).integer(0))
                    .image(x -> FixedPoint.clamp(x, dtype.min(), dtype.max()));
        };
    }

    private static List<Range> operand(Binding sum, int index, ChannelRanges known) {
        Arg operand = sum.args().get(index);
        if (operand instanceof Arg.Ref ref) {
            return known.of(ref.id());
        }
        Constant constant = (Constant) operand;
        int own = ChannelFlow.channels(constant.type().shape());
        int channels = ChannelFlow.channels(sum.type().shape());
        return IntStream.range(0, channels)
                .mapToObj(c -> IntStream.iterate(c % own, i -> i < constant.elements(), i -> i + own)
                        .mapToObj(i -> Range.point(constant.integer(i)))
                        .reduce(Range::hull)
                        .orElseThrow())
                .toList();
    }
}
