// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import java.util.List;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Operators that call subgraphs, and variables that subgraphs share. */
final class ControlFlowOperators {
    /** Adds or multiplies, as the condition says. */
    static final OperatorCases IF = OperatorCases.of("IF", d -> {
        byte type = d.oneOf(TensorType.FLOAT32, TensorType.INT32);
        int[] shape = d.shape(1, 3);
        TfliteModelBuilder m = d.model();
        int condition = d.input(TensorSpec.of("condition", TensorType.BOOL, 1));
        int a = d.input(TensorSpec.of("a", type, shape));
        int b = d.input(TensorSpec.of("b", type, shape));
        int then = branch(m, BuiltinOperator.ADD, type, shape);
        int otherwise = d.coin() ? passing(m, type, shape) : branch(m, BuiltinOperator.MUL, type, shape);
        m.backToMain();
        d.output(TensorSpec.of("y", type, shape));
        d.operator(BuiltinOperator.IF, 1, ifOptions(then, otherwise), condition, a, b);
    });

    /** A count goes up to a limit; another tensor is added to itself or to a third one that stays as it is. */
    static final OperatorCases WHILE = OperatorCases.of("WHILE", d -> loop(d, false));

    /** The same, with a branch in the body. */
    static final OperatorCases IF_IN_WHILE = OperatorCases.of("IF_IN_WHILE", d -> loop(d, true));

    /** A sum over all runs, which begins with a constant. */
    static final OperatorCases VARIABLES = OperatorCases.of("VARIABLES", d -> {
        byte type = d.oneOf(TensorType.FLOAT32, TensorType.INT32);
        int[] shape = d.shape(1, 3);
        int x = d.input(TensorSpec.of("x", type, shape));
        first(d, type, shape);
        add(d.model(), x, d.output(TensorSpec.of("sum", type, shape)), type, shape);
    });

    /** The same sum, to which only one of two branches adds. */
    static final OperatorCases VARIABLES_IN_IF = OperatorCases.of("VARIABLES_IN_IF", d -> {
        byte type = d.oneOf(TensorType.FLOAT32, TensorType.INT32);
        int[] shape = d.shape(1, 3);
        TfliteModelBuilder m = d.model();
        int condition = d.input(TensorSpec.of("condition", TensorType.BOOL, 1));
        int x = d.input(TensorSpec.of("x", type, shape));
        first(d, type, shape);
        int adds = m.nextSubgraph();
        int more = m.tensor(TensorSpec.of("more", type, shape));
        int sum = m.tensor(TensorSpec.of("sum", type, shape));
        add(m, more, sum, type, shape);
        m.inputs(more).outputs(sum);
        int passes = m.nextSubgraph();
        int same = m.tensor(TensorSpec.of("same", type, shape));
        m.inputs(same).outputs(same);
        m.backToMain();
        int y = d.output(TensorSpec.of("y", type, shape));
        m.operator(BuiltinOperator.IF, 1, ifOptions(adds, passes), new int[] {condition, x}, y);
    });

    /** As the condition says, a branch adds to the variable whose handle it takes, or reads it. */
    static final OperatorCases HANDLE_IN_IF = OperatorCases.of("HANDLE_IN_IF", d -> {
        byte type = d.oneOf(TensorType.FLOAT32, TensorType.INT32);
        int[] shape = d.shape(1, 3);
        TfliteModelBuilder m = d.model();
        int condition = d.input(TensorSpec.of("condition", TensorType.BOOL, 1));
        int x = d.input(TensorSpec.of("x", type, shape));
        first(d, type, shape);
        int shared = handle(m);
        int adds = m.nextSubgraph();
        int[] taken = {m.tensor(TensorSpec.of("handle", TensorType.RESOURCE)), m.tensor(TensorSpec.of("x", type, shape))
        };
        int sum = m.tensor(TensorSpec.of("sum", type, shape));
        add(m, taken[0], taken[1], sum, type, shape);
        m.inputs(taken).outputs(sum);
        int reads = m.nextSubgraph();
        int[] read = {m.tensor(TensorSpec.of("handle", TensorType.RESOURCE)), m.tensor(TensorSpec.of("x", type, shape))
        };
        int total = m.tensor(TensorSpec.of("total", type, shape));
        m.operator(BuiltinOperator.READ_VARIABLE, 1, Options.none(), new int[] {read[0]}, total);
        m.inputs(read).outputs(total);
        m.backToMain();
        d.output(TensorSpec.of("y", type, shape));
        d.operator(BuiltinOperator.IF, 1, ifOptions(adds, reads), condition, shared, x);
    });

    /** A count goes up to a limit; each time an input is added to the variable whose handle goes round with it. */
    static final OperatorCases HANDLE_IN_WHILE = OperatorCases.of("HANDLE_IN_WHILE", d -> {
        byte type = d.oneOf(TensorType.FLOAT32, TensorType.INT32);
        int[] shape = d.shape(1, 3);
        TfliteModelBuilder m = d.model();
        int start = d.add(TensorSpec.int32("start", 0));
        int limit = d.input(TensorSpec.of("limit", TensorType.INT32, 1), 0, 5);
        int x = d.input(TensorSpec.of("x", type, shape));
        first(d, type, shape);
        int shared = handle(m);
        int condition = m.nextSubgraph();
        int[] asked = loopWithHandle(m, type, shape);
        int goesOn = m.tensor(TensorSpec.of("goes_on", TensorType.BOOL, 1));
        m.operator(BuiltinOperator.LESS, 1, Options.none(), new int[] {asked[1], asked[2]}, goesOn);
        m.inputs(asked).outputs(goesOn);
        int body = m.nextSubgraph();
        int[] in = loopWithHandle(m, type, shape);
        int one = m.tensor(TensorSpec.int32("one", 1));
        int next = m.tensor(TensorSpec.of("next", TensorType.INT32, 1));
        m.operator(BuiltinOperator.ADD, 1, Options.add(Options.NO_ACTIVATION), new int[] {in[1], one}, next);
        add(m, in[0], in[3], m.tensor(TensorSpec.of("sum", type, shape)), type, shape);
        m.inputs(in).outputs(in[0], next, in[2], in[3]);
        m.backToMain();
        int round = m.tensor(TensorSpec.of("handle_out", TensorType.RESOURCE));
        int count = d.output(TensorSpec.of("count", TensorType.INT32, 1));
        int last = d.output(TensorSpec.of("last", TensorType.INT32, 1));
        int same = d.output(TensorSpec.of("same", type, shape));
        Options options = Options.table(BuiltinOptions.WhileOptions, Field.int32(0, condition), Field.int32(1, body));
        m.operator(BuiltinOperator.WHILE, 1, options, new int[] {shared, start, limit, x}, round, count, last, same);
        int total = d.output(TensorSpec.of("total", type, shape));
        m.operator(BuiltinOperator.READ_VARIABLE, 1, Options.none(), new int[] {round}, total);
    });

    static final List<OperatorCases> ALL =
            List.of(IF, WHILE, IF_IN_WHILE, VARIABLES, VARIABLES_IN_IF, HANDLE_IN_IF, HANDLE_IN_WHILE);

    private ControlFlowOperators() {}

    private static Options ifOptions(int then, int otherwise) {
        return Options.table(BuiltinOptions.IfOptions, Field.int32(0, then), Field.int32(1, otherwise));
    }

    /** The variable begins with a constant. */
    private static void first(Draw d, byte type, int... shape) {
        TfliteModelBuilder m = d.model();
        int once = m.nextSubgraph();
        int own = handle(m);
        int first = m.tensor(d.constant(TensorSpec.of("first", type, shape)));
        m.operator(BuiltinOperator.ASSIGN_VARIABLE, 1, Options.none(), new int[] {own, first});
        m.backToMain();
        Options options = Options.table(BuiltinOptions.CallOnceOptions, Field.int32(0, once));
        m.operator(BuiltinOperator.CALL_ONCE, 1, options, new int[0]);
    }

    /** The variable takes the sum of itself and another tensor. */
    private static void add(TfliteModelBuilder m, int x, int sum, byte type, int... shape) {
        add(m, handle(m), x, sum, type, shape);
    }

    private static void add(TfliteModelBuilder m, int shared, int x, int sum, byte type, int... shape) {
        int before = m.tensor(TensorSpec.of("before", type, shape));
        m.operator(BuiltinOperator.READ_VARIABLE, 1, Options.none(), new int[] {shared}, before);
        m.operator(BuiltinOperator.ADD, 1, Options.add(Options.NO_ACTIVATION), new int[] {before, x}, sum);
        m.operator(BuiltinOperator.ASSIGN_VARIABLE, 1, Options.none(), new int[] {shared, sum});
    }

    private static int handle(TfliteModelBuilder m) {
        int handle = m.tensor(TensorSpec.of("handle", TensorType.RESOURCE));
        Options options = Options.table(BuiltinOptions.VarHandleOptions, Field.text(0, ""), Field.text(1, "total"));
        m.operator(BuiltinOperator.VAR_HANDLE, 1, options, new int[0], handle);
        return handle;
    }

    /** A subgraph of one operator with two operands. */
    private static int branch(TfliteModelBuilder m, int builtin, byte type, int... shape) {
        int index = m.nextSubgraph();
        int a = m.tensor(TensorSpec.of("left", type, shape));
        int b = m.tensor(TensorSpec.of("right", type, shape));
        int y = m.tensor(TensorSpec.of("result", type, shape));
        byte options = builtin == BuiltinOperator.ADD ? BuiltinOptions.AddOptions : BuiltinOptions.MulOptions;
        m.operator(builtin, 1, Options.table(options, Field.int8(0, 0)), new int[] {a, b}, y);
        m.inputs(a, b).outputs(y);
        return index;
    }

    private static int[] loopWithHandle(TfliteModelBuilder m, byte type, int... shape) {
        return new int[] {
            m.tensor(TensorSpec.of("handle", TensorType.RESOURCE)),
            m.tensor(TensorSpec.of("i", TensorType.INT32, 1)),
            m.tensor(TensorSpec.of("end", TensorType.INT32, 1)),
            m.tensor(TensorSpec.of("x", type, shape))
        };
    }

    /** A subgraph that hands its second input on. */
    private static int passing(TfliteModelBuilder m, byte type, int... shape) {
        int index = m.nextSubgraph();
        int a = m.tensor(TensorSpec.of("left", type, shape));
        int b = m.tensor(TensorSpec.of("right", type, shape));
        m.inputs(a, b).outputs(b);
        return index;
    }

    private static void loop(Draw d, boolean branches) {
        byte type = d.oneOf(TensorType.FLOAT32, TensorType.INT32);
        int[] shape = d.shape(1, 3);
        TfliteModelBuilder m = d.model();
        int start = d.add(TensorSpec.int32("start", 0));
        int limit = d.input(TensorSpec.of("limit", TensorType.INT32, 1), 0, 5);
        int x = d.input(TensorSpec.of("x", type, shape));
        int z = d.input(TensorSpec.of("z", type, shape));
        int condition = condition(m, type, shape);
        int body = m.nextSubgraph();
        int[] in = variables(m, type, shape);
        int one = m.tensor(TensorSpec.int32("one", 1));
        int next = m.tensor(TensorSpec.of("next", TensorType.INT32, 1));
        int sum = m.tensor(TensorSpec.of("sum", type, shape));
        Options add = Options.add(Options.NO_ACTIVATION);
        m.operator(BuiltinOperator.ADD, 1, add, new int[] {in[0], one}, next);
        if (branches) {
            int two = m.tensor(TensorSpec.int32("two", 2));
            int early = m.tensor(TensorSpec.of("early", TensorType.BOOL, 1));
            m.operator(BuiltinOperator.LESS, 1, Options.none(), new int[] {in[0], two}, early);
            Options options = ifOptions(body + 1, body + 2);
            m.operator(BuiltinOperator.IF, 1, options, new int[] {early, in[2], in[3]}, sum);
        } else {
            m.operator(BuiltinOperator.ADD, 1, add, new int[] {in[2], in[3]}, sum);
        }
        m.inputs(in).outputs(next, in[1], sum, in[3]);
        if (branches) {
            branch(m, BuiltinOperator.ADD, type, shape);
            passing(m, type, shape);
        }
        m.backToMain();
        d.output(TensorSpec.of("count", TensorType.INT32, 1));
        d.output(TensorSpec.of("last", TensorType.INT32, 1));
        d.output(TensorSpec.of("y", type, shape));
        d.output(TensorSpec.of("same", type, shape));
        Options options = Options.table(BuiltinOptions.WhileOptions, Field.int32(0, condition), Field.int32(1, body));
        d.operator(BuiltinOperator.WHILE, 1, options, start, limit, x, z);
    }

    private static int[] variables(TfliteModelBuilder m, byte type, int... shape) {
        return new int[] {
            m.tensor(TensorSpec.of("i", TensorType.INT32, 1)),
            m.tensor(TensorSpec.of("end", TensorType.INT32, 1)),
            m.tensor(TensorSpec.of("carried", type, shape)),
            m.tensor(TensorSpec.of("kept", type, shape))
        };
    }

    private static int condition(TfliteModelBuilder m, byte type, int... shape) {
        int index = m.nextSubgraph();
        int[] in = variables(m, type, shape);
        int goesOn = m.tensor(TensorSpec.of("goes_on", TensorType.BOOL, 1));
        m.operator(BuiltinOperator.LESS, 1, Options.none(), new int[] {in[0], in[1]}, goesOn);
        m.inputs(in).outputs(goesOn);
        return index;
    }
}
