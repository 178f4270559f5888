// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor;

import io.kiln.base.DType;
import io.kiln.ir.Variable;
import io.kiln.lower.Tables;
import io.kiln.stream.Program.StoredValue;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Buffer.Scope;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The static memory of a model's variables, and {@code tvmgen_<name>_reset}, which initialises them. If the initial
 * values are not all zero, the first run begins with a reset.
 */
public final class StateMemory {
    private StateMemory() {}

    /** The static array of a variable, or the parameter with the caller's memory. */
    public static Buffer buffer(PlannedModule module, StoredValue value) {
        return array(module, value.index(), variables(module).get(value.index()));
    }

    private static Buffer array(PlannedModule module, int index, Variable variable) {
        long elements = variable.type().shape().elements();
        return module.called()
                ? new Buffer("state" + index, variable.type().dtype(), elements, Scope.OUTPUT)
                : new Buffer(module.names().state(index), variable.type().dtype(), elements, Scope.STATE);
    }

    private static List<Variable> variables(PlannedModule module) {
        return module.program().function().variables();
    }

    private static Buffer ready(PlannedModule module) {
        return new Buffer(module.names().ready(), DType.BOOL, 1, Scope.STATE);
    }

    private static boolean beginsWithZeros(PlannedModule module) {
        return variables(module).stream().allMatch(StateMemory::beginsWithZeros);
    }

    private static boolean beginsWithZeros(Variable variable) {
        for (byte element : variable.initial().toArray()) {
            if (element != 0) {
                return false;
            }
        }
        return true;
    }

    /** All arrays that the file defines. */
    public static List<Buffer> arrays(PlannedModule module) {
        List<Buffer> arrays = new ArrayList<>();
        for (int i = 0; i < variables(module).size(); i++) {
            arrays.add(array(module, i, variables(module).get(i)));
        }
        if (!beginsWithZeros(module)) {
            arrays.add(ready(module));
        }
        return arrays;
    }

    /** Calls the reset before the first run, unless all initial values are zero. */
    public static void ensureInitialised(PlannedModule module, BlockBuilder body) {
        if (!module.called() && !beginsWithZeros(module)) {
            body.ifThen(
                    Exprs.equal(Exprs.load(ready(module), Exprs.imm(0)), Exprs.imm(0, DType.BOOL)),
                    b -> b.add(new Stmt.CallFunction(module.names().reset(), List.of(), List.of())));
        }
    }

    /** The reset function; empty for a model without variables. */
    public static Optional<PrimFunc> reset(PlannedModule module) {
        if (variables(module).isEmpty()) {
            return Optional.empty();
        }
        Tables tables = new Tables(module.names().prefix());
        BlockBuilder body = new BlockBuilder();
        for (int i = 0; i < variables(module).size(); i++) {
            Variable variable = variables(module).get(i);
            Buffer array = array(module, i, variable);
            if (beginsWithZeros(variable)) {
                body.loop("i", array.elements(), (b, at) -> b.store(array, at, zero(array.dtype())));
            } else {
                Buffer first = tables.add("state" + i + "_first", array.dtype(), variable.initial());
                body.add(new Stmt.Copy(array, first, array.bytes()));
            }
        }
        if (!beginsWithZeros(module)) {
            body.store(ready(module), Exprs.imm(0), Exprs.imm(1, DType.BOOL));
        }
        return Optional.of(new PrimFunc(
                module.names().reset(),
                "Makes " + module.name() + " forget what it saw: its variables get their first values.",
                List.of(),
                List.of(),
                tables.list(),
                body.build()));
    }

    private static Expr zero(DType dtype) {
        return dtype.isFloat()
                ? Exprs.imm(0.0f)
                : Exprs.imm(0, dtype.isLong() || dtype.isWideUnsigned() ? dtype : DType.INT32);
    }
}
