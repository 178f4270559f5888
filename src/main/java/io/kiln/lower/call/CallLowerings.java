// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.call;

import static io.kiln.lower.OperatorLowering.entry;
import static io.kiln.lower.OperatorLowering.simple;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.ir.op.call.EthosU;
import io.kiln.ir.op.call.EthosUTensor;
import io.kiln.ir.op.call.If;
import io.kiln.ir.op.call.While;
import io.kiln.lower.OperatorLowering;
import java.util.Map;

/** Lowerings of the operators that call functions, of the model or of the user. */
public final class CallLowerings {
    public static final Map<Class<? extends Op>, OperatorLowering<Op>> ALL = Map.ofEntries(
            entry(If.class, (op, choice, rows, c) -> new ControlFlowLowering(op, c.callees()).choose(choice, rows)),
            entry(While.class, (op, loop, rows, c) -> new ControlFlowLowering(op, c.callees()).repeat(loop, rows)),
            simple(CustomCall.class, (op, rows) -> new CustomCallLowering(op).lower(rows)),
            simple(EthosU.class, (op, rows) -> EthosULowerings.refuse(op)),
            simple(EthosUTensor.class, EthosULowerings::tensor));

    private CallLowerings() {}
}
