// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.element;

import static io.kiln.reference.kernel.OperatorKernel.pure;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.FixedPointMultiply;
import io.kiln.ir.op.element.Full;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.PairLookup;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.Reinterpret;
import io.kiln.ir.op.element.TflAddN;
import io.kiln.ir.op.element.TflLeakyRelu;
import io.kiln.ir.op.element.TflLookup;
import io.kiln.ir.op.element.TflLookup16;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.element.Where;
import io.kiln.reference.kernel.OperatorKernel;
import java.util.Map;

/** Kernels of element-wise operators. */
public final class ElementwiseKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(Unary.class, UnaryKernels::unary),
            pure(LeakyRelu.class, UnaryKernels::leakyRelu),
            pure(PairLookup.class, BinaryKernels::pairs),
            pure(TflLookup.class, UnaryKernels::lookup),
            pure(TflLookup16.class, UnaryKernels::interpolated),
            pure(TflSigmoid16.class, UnaryKernels::sigmoid),
            pure(TflLeakyRelu.class, UnaryKernels::leakyRelu),
            pure(Cast.class, Casts::cast),
            pure(Reinterpret.class, Casts::reinterpret),
            pure(Binary.class, BinaryKernels::binary),
            pure(QnnBinary.class, QuantizedBinaries::binary),
            pure(TflAddN.class, QuantizedBinaries::addN),
            pure(FixedPointMultiply.class, BinaryKernels::fixedPointMultiply),
            pure(Where.class, Selections::where),
            pure(Full.class, Selections::full));

    private ElementwiseKernels() {}
}
