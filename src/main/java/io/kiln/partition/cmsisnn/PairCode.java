// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.partition.ExternalCall;
import io.kiln.partition.ExternalFunction;
import io.kiln.partition.Match;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/** Calls of {@code arm_elementwise_add_*} and {@code arm_elementwise_mul_*}. */
final class PairCode {
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
        return LayerTables.zeroPoint(root, position);
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
