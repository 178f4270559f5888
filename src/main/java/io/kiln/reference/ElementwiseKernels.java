// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static io.kiln.reference.Kernels.entry;

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
    static final Map<Class<? extends Op>, Kernels.Kernel<Op>> ALL = Map.ofEntries(
            entry(Unary.class, UnaryKernels::unary),
            entry(LeakyRelu.class, UnaryKernels::leakyRelu),
            entry(TflLookup.class, UnaryKernels::lookup),
            entry(TflSigmoid16.class, UnaryKernels::sigmoid),
            entry(TflLeakyRelu.class, UnaryKernels::leakyRelu),
            entry(Cast.class, Casts::cast),
            entry(Binary.class, BinaryKernels::binary),
            entry(QnnBinary.class, QuantizedBinaries::binary),
            entry(TflAddN.class, QuantizedBinaries::addN),
            entry(FixedPointMultiply.class, BinaryKernels::fixedPointMultiply),
            entry(Where.class, Selections::where),
            entry(Full.class, Selections::full));

    private ElementwiseKernels() {}
}
