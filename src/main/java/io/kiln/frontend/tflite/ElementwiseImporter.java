// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Add;
import io.kiln.ir.op.QnnAdd;
import java.util.Optional;

/** ADD with broadcasting; one side may be constant. */
final class ElementwiseImporter implements OperatorImporter {
    private static final int OPTIONS = 11;

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor lhs = operator.input(0);
        TfliteTensor rhs = operator.input(1);
        Optional<FlatTable> options = operator.options(OPTIONS);
        Activation activation =
                Activation.read(operator, options.map(o -> o.u8(0, 0)).orElse(0));
        ElementTypes.requireSame(operator, lhs, rhs, operator.output());
        operator.check();
        Arg sum = lhs.dtype().isFloat()
                ? operator.emit(new Add(), operator.value(lhs), operator.value(rhs))
                : operator.emit(
                        new QnnAdd(),
                        operator.value(lhs),
                        operator.value(rhs),
                        scale(lhs),
                        zeroPoint(lhs),
                        scale(rhs),
                        zeroPoint(rhs),
                        scale(operator.output()),
                        zeroPoint(operator.output()));
        operator.finish(activation.apply(operator, sum));
    }

    private static Constant scale(TfliteTensor tensor) {
        return Constant.scalar(tensor.quantization().scale(0));
    }

    private static Constant zeroPoint(TfliteTensor tensor) {
        return Constant.scalar(tensor.quantization().zeroPoint());
    }
}
