// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.executor.PlannedModule;
import io.kiln.lower.LoweredOperator;
import io.kiln.partition.CompositePattern;
import io.kiln.partition.ExternalCall;
import io.kiln.partition.ExternalCodegen;
import io.kiln.partition.ExternalFunction;
import io.kiln.partition.ExternalUnit;
import io.kiln.partition.PatternStep;
import io.kiln.reference.OwnModel;
import io.kiln.stream.Program.StoredValue;
import io.kiln.stream.Program.StoredValue.Place;
import io.kiln.stream.ProgramPools.WorkspaceLayout;
import io.kiln.target.CompositeTarget;
import io.kiln.target.MemoryPool;
import io.kiln.target.MemoryPool.MemoryReach;
import io.kiln.target.Target;
import io.kiln.tir.PrimFunc;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A unit that takes the convolutions of a model does not reach every memory. */
class PoolTargetsTest {
    private static final String UNIT = "npu";
    private static final int CONTEXT = 200;

    /** Takes convolutions, or reads the model's input with the last layer left to the core; computes nothing. */
    private record Npu(boolean onCore, String layer) implements ExternalCodegen {
        @Override
        public String name() {
            return UNIT;
        }

        @Override
        public boolean hasDevice() {
            return !onCore;
        }

        @Override
        public boolean runsOnCore() {
            return onCore;
        }

        @Override
        public List<CompositePattern> patterns(CompositeTarget.External external, Target host) {
            List<PatternStep> steps = List.of(
                    PatternStep.named(layer),
                    PatternStep.named("nn.bias_add").orNone(),
                    PatternStep.named("tfl.requantize"),
                    PatternStep.named("clip").orNone());
            return List.of(new CompositePattern(UNIT + ".layer", steps, List.of()));
        }

        @Override
        public ExternalCall call(ExternalFunction function, CompositeTarget.External external, Target host) {
            ExternalCall.Table table = new ExternalCall.Table("weights", DType.INT8, Bytes.wrap(new byte[100]));
            return new ExternalCall(List.of(table), CONTEXT, UNIT);
        }

        @Override
        public List<Artifact> generate(ExternalUnit unit) {
            StringBuilder text = new StringBuilder("#include <stdint.h>\n");
            for (ExternalFunction function : unit.functions()) {
                ExternalCall call = call(function, unit.external(), unit.host());
                text.append("int32_t " + function.symbol() + "(" + String.join(", ", call.parameters(function))
                        + ") {\n  return 0;\n}\n");
            }
            return List.of(Artifact.ofText(UNIT, ArtifactKind.SOURCE, unit.file() + ".c", text.toString()));
        }
    }

    private static MemoryPool pool(String name, long limit, String... targets) {
        OptionalLong most = limit == 0 ? OptionalLong.empty() : OptionalLong.of(limit);
        return new MemoryPool(name, 16, most, new MemoryReach(name, List.of(targets)));
    }

    private static RequestDraft request(MemoryPool... pools) {
        return RequestDraft.of(OwnModel.KEYWORDS.model(), UNIT + ", c")
                .codegens(List.of(new Npu(false, "qnn.conv2d")))
                .pools(List.of(pools));
    }

    /** Names of the buffers of the operators of one kind. */
    private static Set<String> buffers(PlannedModule module, boolean ofUnit) {
        Set<String> names = new TreeSet<>();
        List<LoweredOperator> operators = module.program().operators();
        for (int i = 0; i < operators.size(); i++) {
            LoweredOperator operator = operators.get(i);
            if (operator.schedule().equals(UNIT) == ofUnit) {
                List<Integer> ids = new ArrayList<>(operator.inputs());
                ids.add(operator.output());
                ids.forEach(id -> names.add(
                        WorkspaceLayout.valueName(module.program().storage().get(id))));
                names.add(WorkspaceLayout.scratchName(i));
            }
        }
        return names;
    }

    private static String memory(PlannedModule module, String buffer) {
        WorkspaceLayout layout = module.layout();
        return module.pools()
                .get(layout.bounds().poolOf(layout.plan().offset(buffer)))
                .name();
    }

    @Test
    void whatTheUnitTouchesLiesWhereItReaches() {
        CompiledModel model = ModelCompiler.compile(request(
                        pool("tcm", 64 << 10, "host"),
                        pool("own", 64 << 10, UNIT),
                        pool("other", 64 << 10, "dsp"),
                        pool("sram", 0))
                .build());
        PlannedModule module = model.module();
        Set<String> unit = buffers(module, true);
        Set<String> core = buffers(module, false);
        assertThat(module.layout().plan().buffers()).hasSizeGreaterThan(10).allSatisfy(buffer -> {
            boolean isShared = unit.contains(buffer.name()) && core.contains(buffer.name());
            assertThat(memory(module, buffer.name()))
                    .as(buffer.name())
                    .isEqualTo(isShared ? "sram" : unit.contains(buffer.name()) ? "own" : "tcm");
        });
        assertThat(module.workspacePools()).extracting(pool -> pool.name()).containsExactly("tcm", "own", "sram");
        assertThat(module.workspaceBytes())
                .isEqualTo(module.workspacePools().stream()
                        .mapToLong(pool -> pool.bytes())
                        .sum())
                .isLessThan(64 << 10);
        assertThat(model.library().artifacts().of(ArtifactKind.SOURCE).get(0).text())
                .contains(".bss.noinit.tvm.tcm", ".bss.noinit.tvm.own", ".bss.noinit.tvm.sram")
                .doesNotContain(".bss.noinit.tvm.other");
    }

    @Test
    void withInputsAndOutputsInTheWorkspaceTheyObeyAsWell() {
        PlannedModule module = ModelCompiler.compile(request(pool("sram", 64 << 10), pool("tcm", 0, "host"))
                        .io(Io.WORKSPACE)
                        .build())
                .module();
        Set<String> unit = buffers(module, true);
        StoredValue input = module.program().values().get(0);
        assertThat(input.place()).isEqualTo(Place.INPUT);
        assertThat(unit).contains(WorkspaceLayout.valueName(input.id()));
        assertThat(module.layout().plan().buffers())
                .allSatisfy(buffer -> assertThat(memory(module, buffer.name()))
                        .isIn(unit.contains(buffer.name()) ? Set.of("sram") : Set.of("sram", "tcm")));
    }

    /** C that the core computes, such as CMSIS-NN, reaches what the core reaches. */
    @Test
    void functionsOfTheCoreLieWithTheCore() {
        PlannedModule module = ModelCompiler.compile(request(pool("tcm", 64 << 10, "host"), pool("sram", 0))
                        .codegens(List.of(new Npu(true, "qnn.conv2d")))
                        .build())
                .module();
        assertThat(module.workspacePools()).extracting(pool -> pool.name()).containsExactly("tcm");
    }

    @Test
    void aBufferThatFitsNowhereIsNamed() {
        assertThatThrownBy(() -> ModelCompiler.compile(request(pool("own", 64 << 10, UNIT), pool("tcm", 0, "host"))
                        .build()))
                .hasMessageContaining(
                        "bytes) is read or written by host and npu, and no memory of the workspace is reached by all"
                                + " of them")
                .hasMessageContaining("there are own 65536 bytes (reached by npu), tcm (reached by host)")
                .hasMessageContaining("Add one to pools.workspace of the board");
        assertThatThrownBy(() -> ModelCompiler.compile(request(pool("sram", 256), pool("tcm", 0, "host"))
                        .io(Io.WORKSPACE)
                        .build()))
                .hasMessageContaining(
                        "`input_1` (490 bytes) is read or written by host and npu, and there is no room for it in sram"
                                + " 256 bytes")
                .hasMessageContaining(
                        "(8000 bytes) is read or written by npu, and there is no room for it in sram 256 bytes;"
                                + " expected a memory with room that npu reaches; there are sram 256 bytes, tcm (reached"
                                + " by host)");
    }

    /** Who calls the model owns its input, which lies with the variables. */
    @Test
    void anInputOfTheCallersIsNotReached() {
        assertThatThrownBy(() -> ModelCompiler.compile(
                        request(pool("sram", 64 << 10), pool("tcm", 0, "host")).build()))
                .hasMessageContaining(
                        "is read or written by host and npu, and lies with the caller's variables in tcm (reached by"
                                + " host)")
                .hasMessageContaining("Plan inputs and outputs with kiln.io=workspace");
    }

    @Test
    void constantsOfTheUnitLieWhereItReaches() {
        List<MemoryPool> flashes = List.of(pool("itcm", 6000, "host"), pool("flash", 60_000), pool("own", 0, UNIT));
        CompiledModel model = ModelCompiler.compile(
                request(pool("sram", 0)).constantPools(flashes).build());
        List<String> taken = model.module().program().operators().stream()
                .filter(operator -> operator.schedule().equals(UNIT))
                .map(operator -> operator.function().name())
                .toList();
        assertThat(taken).hasSizeGreaterThan(3);
        List<PrimFunc> functions = model.code().functions().stream()
                .filter(function -> function.constantBytes() > 0)
                .toList();
        assertThat(functions)
                .allSatisfy(function -> assertThat(function.constants().get(0).pool())
                        .as(function.name())
                        .hasValueSatisfying(memory -> assertThat(memory)
                                .isIn(
                                        taken.contains(function.name())
                                                ? Set.of("flash", "own")
                                                : Set.of("itcm", "flash"))));
        assertThatThrownBy(() -> ModelCompiler.compile(request(pool("sram", 0))
                        .constantPools(List.of(pool("itcm", 0, "host")))
                        .build()))
                .hasMessageContaining("the constants of " + taken.get(0))
                .hasMessageContaining("are read by npu, which reaches no memory of constants")
                .hasMessageContaining("a memory that npu reaches; there are itcm (reached by host)");
    }
}
