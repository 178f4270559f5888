// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelIdentity;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ObjectCompiler;
import io.kiln.base.Optimize;
import io.kiln.compile.CodeTarget.MemoryPools;
import io.kiln.compile.CompileOptions.RamOptions;
import io.kiln.compile.CompileRequest.ModelInput;
import io.kiln.executor.PlannedModule.PackedOptions;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.TfliteRounding;
import io.kiln.partition.ExternalCodegen;
import io.kiln.partition.Externals;
import io.kiln.schedule.GoalMix;
import io.kiln.target.CompositeTarget;
import io.kiln.target.MemoryPool;
import io.kiln.target.SpareRam;
import io.kiln.transform.PassOptions;
import io.kiln.tuning.record.HistoryBest;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What a test asks of the compiler, told piece by piece. Functions with the packed signature are listed in a system library. */
public final class RequestDraft {
    private final Path model;
    private final String target;
    private String name = "default";
    private ModelIdentity identity = ModelIdentity.UNKNOWN;
    private InputShapes shapes = InputShapes.NONE;
    private List<ExternalCodegen> codegens = List.of();
    private MemoryPools pools = MemoryPools.GLOBAL;
    private Optional<ObjectCompiler> objects = Optional.empty();
    private CompileOptions options = CompileOptions.DEFAULT.with(CallOptions.TYPED.with(new PackedOptions(true, true)));
    private boolean slim;
    private HistoryBest records = HistoryBest.NONE;

    private RequestDraft(Path model, String target) {
        this.model = model;
        this.target = target;
    }

    public static RequestDraft of(Path model, String target) {
        return new RequestDraft(model, target);
    }

    public CompileRequest build() {
        CodeTarget code = new CodeTarget(Externals.of(CompositeTarget.parse(target), codegens), pools, objects);
        ModelInput input = new ModelInput(model, name, identity, shapes);
        return new CompileRequest(input, code, options, slim, Optional.empty(), records);
    }

    public RequestDraft name(String value) {
        name = value;
        return this;
    }

    public RequestDraft identity(ModelIdentity value) {
        identity = value;
        return this;
    }

    public RequestDraft inputShapes(InputShapes value) {
        shapes = value;
        return this;
    }

    public RequestDraft codegens(List<ExternalCodegen> value) {
        codegens = value;
        return this;
    }

    public RequestDraft pools(List<MemoryPool> value) {
        pools = new MemoryPools(value, pools.constants(), pools.spare());
        return this;
    }

    public RequestDraft constantPools(List<MemoryPool> value) {
        pools = new MemoryPools(pools.workspace(), value, pools.spare());
        return this;
    }

    /** What a machine has to spare, and what of it is used. */
    public RequestDraft ram(SpareRam spare, RamOptions use) {
        pools = new MemoryPools(pools.workspace(), pools.constants(), spare);
        options = options.with(use);
        return this;
    }

    public RequestDraft objects(Optional<ObjectCompiler> value) {
        objects = value;
        return this;
    }

    public RequestDraft optimize(Optimize value) {
        options = options.with(value);
        return this;
    }

    public RequestDraft optimize(Optimize value, GoalMix mix) {
        options = options.with(value, mix);
        return this;
    }

    public RequestDraft portable() {
        options = new CompileOptions(
                options.optimize(),
                options.calls(),
                options.passes(),
                options.reading(),
                true,
                options.ram(),
                options.mix());
        return this;
    }

    public RequestDraft passes(PassOptions value) {
        options = options.with(value);
        return this;
    }

    public RequestDraft customOperators(CustomOperators value) {
        options = options.with(options.reading().with(value));
        return this;
    }

    public RequestDraft rounding(TfliteRounding value) {
        options = options.with(options.reading().with(value));
        return this;
    }

    public RequestDraft io(Io value) {
        return calls(options.calls().with(value));
    }

    public RequestDraft convention(Convention value) {
        return calls(options.calls().with(value));
    }

    public RequestDraft packed(PackedOptions value) {
        return calls(options.calls().with(value));
    }

    public RequestDraft executor(ExecutorKind value) {
        return calls(options.calls().with(value, options.calls().linkParams()));
    }

    public RequestDraft linked(boolean value) {
        return calls(options.calls().with(options.calls().executor(), value));
    }

    public RequestDraft calls(CallOptions value) {
        options = options.with(value);
        return this;
    }

    public RequestDraft slim(boolean value) {
        slim = value;
        return this;
    }

    public RequestDraft records(HistoryBest value) {
        records = value;
        return this;
    }
}
