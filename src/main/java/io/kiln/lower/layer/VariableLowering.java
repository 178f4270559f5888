// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Stmt;
import java.util.List;

/** Gives a variable a new value, all of it at once. */
public final class VariableLowering {
    private VariableLowering() {}

    public static LoweredOperator lower(FusedOperator op, Rows rows) {
        Tables tables = new Tables(op.name());
        OperatorBuffers buffers = new OperatorBuffers(op, tables);
        Buffer variable = buffers.argument(0);
        Stmt body = new BlockBuilder()
                .add(new Stmt.Copy(variable, buffers.argument(1), variable.bytes()))
                .build();
        List<RowDependency> dependencies = op.inputs().stream()
                .<RowDependency>map(id ->
                        new RowDependency.All(Rows.count(op.rootTypes().get(0).shape())))
                .toList();
        return Nests.operator(op, buffers, tables, rows, dependencies, body, "copy");
    }
}
