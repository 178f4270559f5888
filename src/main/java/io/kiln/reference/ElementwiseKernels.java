// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static io.kiln.reference.OperatorKernel.pure;

import io.kiln.ir.op.Binary;
import io.kiln.ir.op.Cast;
import io.kiln.ir.op.FixedPointMultiply;
import io.kiln.ir.op.Full;
import io.kiln.ir.op.LeakyRelu;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnBinary;
import io.kiln.ir.op.TflAddN;
import io.kiln.ir.op.TflLeakyRelu;
import io.kiln.ir.op.TflLookup;
import io.kiln.ir.op.TflSigmoid16;
import io.kiln.ir.op.Unary;
import io.kiln.ir.op.Where;
import java.util.Map;

/** Kernels of element-wise operators. */
final class ElementwiseKernels {
    static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(Unary.class, UnaryKernels::unary),
            pure(LeakyRelu.class, UnaryKernels::leakyRelu),
            pure(TflLookup.class, UnaryKernels::lookup),
            pure(TflSigmoid16.class, UnaryKernels::sigmoid),
            pure(TflLeakyRelu.class, UnaryKernels::leakyRelu),
            pure(Cast.class, Casts::cast),
            pure(Binary.class, BinaryKernels::binary),
            pure(QnnBinary.class, QuantizedBinaries::binary),
            pure(TflAddN.class, QuantizedBinaries::addN),
            pure(FixedPointMultiply.class, BinaryKernels::fixedPointMultiply),
            pure(Where.class, Selections::where),
            pure(Full.class, Selections::full));

    private ElementwiseKernels() {}
}
