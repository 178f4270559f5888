// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.DType;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.PlannedModule.WorkspacePool;
import io.kiln.executor.StateMemory;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Tables;
import io.kiln.stream.Program.Step;
import io.kiln.stream.Program.StoredValue;
import io.kiln.stream.Program.StoredValue.Place;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Buffer.Scope;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Builds {@code tvmgen_<name>___tvm_main__}: places every value and calls the operators in order. Where there are very many steps it calls parts
 * that do, because the work of GCC on a function grows with the square of its variables and calls.
 */
final class MainFunctionBuilder {
    /** Steps of a function that has no parts. */
    private static final int MOST_STEPS = 500;

    private static final int PART_STEPS = 100;

    private final PlannedModule module;
    private final List<Buffer> parameters = new ArrayList<>();
    private final List<Buffer> variables = new ArrayList<>();
    private final Map<Integer, Buffer> buffers = new HashMap<>();
    private final Map<Integer, Integer> indexOf = new HashMap<>();
    private BlockBuilder body = new BlockBuilder();
    /** Declarations of values in the workspace, by the buffer's name. */
    private final Map<String, Stmt.DeclareView> views = new HashMap<>();
    /** Buffers that the current steps name. */
    private Set<Buffer> used = new LinkedHashSet<>();
    /** The functions in the order of the file. */
    private final List<PrimFunc> functions = new ArrayList<>();
    /** The buffers of the pools, by first address. */
    private final Map<Long, Buffer> pools = new LinkedHashMap<>();

    private final Tables orders;

    private MainFunctionBuilder(PlannedModule module) {
        this.module = module;
        module.workspacePools()
                .forEach(pool ->
                        pools.put(pool.start(), new Buffer(pool.name(), DType.UINT8, pool.bytes(), Scope.SCRATCH)));
        this.orders = new Tables(module.names().prefix());
        module.program().operators().forEach(o -> indexOf.put(o.output(), indexOf.size()));
    }

    /** The parts, if there are any, and behind them the function that runs them. */
    static List<PrimFunc> build(PlannedModule module) {
        return new MainFunctionBuilder(module).build();
    }

    private List<PrimFunc> build() {
        List<Step> steps = module.program().steps();
        boolean whole = steps.size() <= MOST_STEPS;
        module.program().values().forEach(this::declare);
        parameters.addAll(variables);
        parameters.addAll(pools.values());
        module.devices().forEach(device -> parameters.add(Buffer.device(device.context())));
        if (whole) {
            module.program().values().stream()
                    .map(value -> buffers.get(value.id()))
                    .filter(buffer -> buffer != null && views.containsKey(buffer.name()))
                    .forEach(buffer -> body.add(views.get(buffer.name())));
        }
        StateMemory.ensureInitialised(module, body);
        if (whole) {
            steps.forEach(this::step);
        } else {
            for (int first = 0; first < steps.size(); first += PART_STEPS) {
                part(steps.subList(first, Math.min(first + PART_STEPS, steps.size())));
            }
        }
        boolean streams = steps.stream().anyMatch(Step.Stream.class::isInstance);
        String comment = "Runs the operators of " + module.name() + " in order"
                + (streams ? ", some of them interleaved, row by row." : ".");
        List<PrimFunc.Table> tables = whole ? orders.list() : List.of();
        functions.add(new PrimFunc(module.names().main(), comment, parameters, List.of(), tables, body.build()));
        return functions;
    }

    private void step(Step step) {
        if (step instanceof Step.Copy copy) {
            Buffer to = use(copy.to());
            body.add(new Stmt.Copy(to, use(copy.from()), to.bytes()));
        } else if (step instanceof Step.Run run) {
            body.add(call(run.operator(), List.of()));
        } else if (step instanceof Step.Stream stream) {
            body.add(stream(stream));
        }
    }

    private Buffer use(int value) {
        Buffer buffer = buffers.get(value);
        used.add(buffer);
        return buffer;
    }

    /** A function of some steps, which gets the parameters that they name, and its call. */
    private void part(List<Step> steps) {
        BlockBuilder calls = body;
        body = new BlockBuilder();
        used = new LinkedHashSet<>();
        int tables = orders.list().size();
        steps.forEach(this::step);
        BlockBuilder declared = new BlockBuilder();
        for (Buffer buffer : List.copyOf(used)) {
            Stmt.DeclareView view = views.get(buffer.name());
            if (view != null) {
                declared.add(view);
                used.add(view.base());
            }
        }
        List<Buffer> needed = parameters.stream().filter(used::contains).toList();
        PrimFunc part = new PrimFunc(
                module.names().mainPart(functions.size()),
                "Runs " + steps.size() + " steps of " + module.name() + ".",
                needed,
                List.of(),
                orders.list().subList(tables, orders.list().size()),
                declared.add(body.build()).build());
        functions.add(part);
        body = calls.add(new Stmt.CallFunction(part.name(), needed, List.of()));
    }

    private void declare(StoredValue value) {
        if (value.place() == Place.STATE) {
            Buffer state = StateMemory.buffer(module, value);
            buffers.put(value.id(), state);
            if (module.called()) {
                variables.add(state);
            }
            return;
        }
        if (value.elements() == 0) {
            return;
        }
        boolean parameter = module.isCallerOwned() && value.place() != Place.WORKSPACE;
        Buffer buffer = new Buffer(name(value), value.type().dtype(), value.elements(), scope(value, parameter));
        buffers.put(value.id(), buffer);
        if (parameter) {
            parameters.add(buffer);
        } else if (value.lastStep() >= 0) {
            // An unused input has its place in the pool, but no name here.
            views.put(buffer.name(), view(buffer, module.layout().value(value.id())));
        }
    }

    private static Scope scope(StoredValue value, boolean parameter) {
        if (value.place() == Place.INPUT) {
            return parameter ? Scope.INPUT : Scope.VIEW;
        }
        return parameter ? Scope.OUTPUT : Scope.MUTABLE_VIEW;
    }

    private String name(StoredValue value) {
        List<TensorInfo> named = value.place() == Place.INPUT
                ? module.api().inputs()
                : module.api().outputs();
        return value.place() == Place.WORKSPACE
                ? "sid_" + value.id()
                : (value.place() == Place.INPUT ? "in_" : "out_")
                        + named.get(value.index()).cName();
    }

    /** Declares a buffer at an address of the memory plan. */
    private Stmt.DeclareView view(Buffer buffer, long address) {
        WorkspacePool pool = module.poolOf(address);
        return new Stmt.DeclareView(buffer, pools.get(pool.start()), Exprs.imm(address - pool.start()));
    }

    private Stmt call(LoweredOperator operator, List<Expr> range) {
        List<Buffer> arguments = new ArrayList<>();
        for (int input : operator.inputs()) {
            arguments.add(use(module.program().storage().get(input)));
        }
        if (buffers.containsKey(operator.output())) {
            arguments.add(use(operator.output()));
        }
        int index = indexOf.get(operator.output());
        long bytes = 0;
        for (Buffer parameter : operator.function().buffers()) {
            if (parameter.scope() == Scope.SCRATCH) {
                bytes = OperatorBuffers.nextScratch(bytes);
                String name = "scratch_" + index + (bytes == 0 ? "" : "_" + bytes);
                Buffer scratch = new Buffer(name, parameter.dtype(), parameter.elements(), Scope.MUTABLE_VIEW);
                Stmt.DeclareView view = view(scratch, module.layout().scratch(index) + bytes);
                used.add(view.base());
                body.add(view);
                arguments.add(scratch);
                bytes += parameter.bytes();
            } else if (parameter.scope() == Scope.DEVICE) {
                used.add(parameter);
                arguments.add(parameter);
            }
        }
        return new Stmt.CallFunction(operator.function().name(), arguments, range);
    }

    /** Interleaved operators: one needs a loop, several a table of their turns. */
    private Stmt stream(Step.Stream stream) {
        BlockBuilder block = new BlockBuilder();
        if (stream.lanes().size() == 1) {
            Step.Lane lane = stream.lanes().get(0);
            Expr.Var row = Exprs.var("row");
            return block.add(new Stmt.For(row, Exprs.imm(0), Exprs.imm(lane.rows()), lane.block(), turn(lane, row)))
                    .build();
        }
        int number = orders.list().size();
        int[] turns = stream.order().stream().mapToInt(Integer::intValue).toArray();
        Buffer order = orders.add("order" + number, DType.UINT8, turns);
        List<Stmt> cases = new ArrayList<>();
        for (Step.Lane lane : stream.lanes()) {
            if (lane.operator().function().scalars().isEmpty()) {
                cases.add(call(lane.operator(), List.of()));
            } else {
                Expr.Var row = block.mutable("row" + number + "_" + cases.size(), Exprs.imm(0));
                cases.add(new BlockBuilder()
                        .add(turn(lane, row))
                        .assign(row, Exprs.add(row, lane.block()))
                        .build());
            }
        }
        block.add(new Stmt.Comment(
                "Each turn computes the next rows of one operator, just before another one needs them."));
        block.loop("turn", turns.length, (loop, turn) -> loop.add(new Stmt.Switch(Exprs.load(order, turn), cases)));
        return block.build();
    }

    private Stmt turn(Step.Lane lane, Expr row) {
        Expr next = Exprs.add(row, lane.block());
        boolean mayExceed = lane.rows() % lane.block() != 0;
        Expr end = mayExceed ? Exprs.min(next, Exprs.imm(lane.rows())) : next;
        return call(lane.operator(), List.of(row, end));
    }
}
