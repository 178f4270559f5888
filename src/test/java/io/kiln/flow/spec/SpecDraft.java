// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Failure;
import io.kiln.base.Optimize;
import io.kiln.base.ParameterValue;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.compile.CallOptions;
import io.kiln.compile.CompileOptions;
import io.kiln.compile.CompileOptions.RamOptions;
import io.kiln.firmware.FirmwareRequest.ImageOptions;
import io.kiln.firmware.TrustedArchives;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.firmware.app.MlperfOptions;
import io.kiln.flow.spec.BuildSpec.ArchiveSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.MachineSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.flow.spec.CompilerSpec.FitSpec;
import io.kiln.flow.spec.CompilerSpec.QuantizeSpec;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.flow.spec.ImageSpec.CodeSpec;
import io.kiln.flow.spec.TuneSpec.RecordsSpec;
import io.kiln.frontend.CustomOperators;
import io.kiln.transform.PassOptions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/** What a test asks of a build, told piece by piece: at first a build with all defaults. */
public final class SpecDraft {
    private final Problems malformed = new Problems(Failure.CONFIG);
    private Layout layout;
    private List<ModelSource> models;
    private String board;
    private Optional<String> toolchain = Optional.empty();
    private BoardSources boardSources = BoardSources.NONE;
    private UpdateSpec update = UpdateSpec.NONE;
    private CompileOptions options = CompileOptions.DEFAULT;
    private CodegenSpec codegens = CodegenSpec.BOARD;
    private SortedMap<String, Long> memoryLimits = CompilerSpec.DEFAULT.memoryLimits();
    private QuantizeSpec quantize = QuantizeSpec.NONE;
    private RecordsSpec records = RecordsSpec.USUAL;
    private boolean dumpIr;
    private FitSpec fit = FitSpec.NONE;
    private ArchiveSpec archive = ArchiveSpec.DEFAULT;
    private ImageOptions image = ImageOptions.DEFAULT;
    private CodeSpec code = CodeSpec.NONE;
    private List<String> compilerFlags = List.of();
    private boolean semihosting;
    private VerifySpec verify = new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 2, 0);
    private Optional<FarmUse> farm = Optional.empty();

    private SpecDraft(Layout layout, List<ModelSource> models, String board) {
        this.layout = layout;
        this.models = models;
        this.board = board;
    }

    public static SpecDraft of(Layout layout, List<ModelSource> models, String board) {
        return new SpecDraft(layout, models, board);
    }

    /** A draft with the values of a build. */
    public static SpecDraft of(BuildSpec spec) {
        SpecDraft draft = of(spec.layout(), spec.models(), spec.board());
        draft.toolchain = spec.toolchain();
        draft.boardSources = spec.machine().boardSources();
        draft.update = spec.update();
        draft.options = spec.compiler().options();
        draft.codegens = spec.codegens();
        draft.memoryLimits = spec.compiler().memoryLimits();
        draft.quantize = spec.quantize();
        draft.records = spec.compiler().records();
        draft.dumpIr = spec.compiler().dumpIr();
        draft.fit = spec.compiler().fit();
        draft.archive = spec.archive();
        draft.image = spec.image().options();
        draft.code = spec.image().code();
        draft.compilerFlags = spec.image().compilerFlags();
        draft.semihosting = spec.semihosting();
        draft.verify = spec.verify();
        draft.farm = spec.farm();
        for (Problem problem : spec.malformed()) {
            draft.malformed.add(problem);
        }
        return draft;
    }

    /** How to flash something at a probe, with all other defaults. */
    public static FlashSpec flash(Optional<String> probe, FlashSpec.Content content) {
        FlashSpec usual = FlashSpec.USUAL;
        return new FlashSpec(
                probe, usual.tool(), content, usual.journal(), usual.faults(), usual.allowRpc(), usual.bar());
    }

    public BuildSpec build() {
        return new BuildSpec(
                layout,
                models,
                new MachineSpec(board, toolchain, boardSources, update),
                new CompilerSpec(options, codegens, memoryLimits, quantize, records, dumpIr, fit),
                archive,
                new ImageSpec(image, code, compilerFlags, semihosting, verify, farm),
                malformed.list());
    }

    public SpecDraft layout(Layout value) {
        layout = value;
        return this;
    }

    public SpecDraft models(List<ModelSource> value) {
        models = value;
        return this;
    }

    public SpecDraft board(String value) {
        board = value;
        return this;
    }

    public SpecDraft toolchain(Optional<String> value) {
        toolchain = value;
        return this;
    }

    public SpecDraft boardSources(BoardSources value) {
        boardSources = value;
        return this;
    }

    public SpecDraft update(UpdateSpec value) {
        update = value;
        return this;
    }

    public SpecDraft optimize(Optimize value) {
        options = options.with(value);
        return this;
    }

    public SpecDraft fit(FitSpec value) {
        fit = value;
        return this;
    }

    public SpecDraft ram(RamOptions value) {
        options = options.with(value);
        return this;
    }

    public SpecDraft optimize(String text) {
        return malformed.read(() -> Optimize.of(text)).map(this::optimize).orElse(this);
    }

    public SpecDraft io(Io value) {
        options = options.with(options.calls().with(value));
        return this;
    }

    public SpecDraft io(String text) {
        return malformed.read(() -> Io.of(text)).map(this::io).orElse(this);
    }

    /** Sets all but who owns inputs and outputs. */
    public SpecDraft calls(CallOptions value) {
        options = options.with(value.with(options.calls().io()));
        return this;
    }

    /** As the parameters have it; the interface is packed for the application {@code rpc}, which is set before, if none is given. */
    public SpecDraft calls(
            Optional<String> interfaceApi, boolean unpackedApi, Optional<Boolean> systemLib, boolean disableAssert) {
        Convention usual = image.application() == Application.RPC ? Convention.PACKED : Convention.TYPED;
        String api = interfaceApi.orElse(usual.interfaceApi());
        return malformed
                .read(() -> CallOptions.of(api, unpackedApi, systemLib, disableAssert))
                .map(this::calls)
                .orElse(this);
    }

    public SpecDraft executor(ExecutorKind kind, boolean linkParams) {
        return calls(options.calls().with(kind, linkParams));
    }

    public SpecDraft passes(PassOptions value) {
        options = options.with(value);
        return this;
    }

    public SpecDraft customOperators(CustomOperators value) {
        options = options.with(options.reading().with(value));
        return this;
    }

    public SpecDraft codegens(CodegenSpec value) {
        codegens = value;
        return this;
    }

    /** Generates code for a target in place of the board's. */
    public SpecDraft target(String text) {
        return codegens(new CodegenSpec(Optional.of(text), Optional.empty()));
    }

    public SpecDraft memory(Map<String, String> limits) {
        memoryLimits = CompilerSpec.memoryLimits(limits);
        return this;
    }

    public SpecDraft quantize(QuantizeSpec value) {
        quantize = value;
        return this;
    }

    public SpecDraft records(RecordsSpec value) {
        records = value;
        return this;
    }

    public SpecDraft dumpIr(boolean value) {
        dumpIr = value;
        return this;
    }

    public SpecDraft mlfVersion(int value) {
        archive = new ArchiveSpec(value, archive.timestamp(), archive.slim());
        return this;
    }

    public SpecDraft timestamp(Optional<Instant> value) {
        archive = new ArchiveSpec(archive.version(), value, archive.slim());
        return this;
    }

    public SpecDraft application(String text) {
        malformed
                .read(() -> ParameterValue.of("kiln.application", Application.class, text))
                .ifPresent(value -> image = image.with(value));
        return this;
    }

    /** An image that is measured. */
    public SpecDraft mlperf(MlperfOptions value) {
        image = new ImageOptions(Application.MLPERF_TINY, value, image.trusted());
        return this;
    }

    public SpecDraft trustedArchives(TrustedArchives value) {
        image = new ImageOptions(image.application(), value);
        return this;
    }

    public SpecDraft code(CodeSpec value) {
        code = value;
        return this;
    }

    public SpecDraft compilerFlags(List<String> value) {
        compilerFlags = value;
        return this;
    }

    public SpecDraft semihosting(boolean value) {
        semihosting = value;
        return this;
    }

    public SpecDraft verify(VerifySpec value) {
        verify = value;
        return this;
    }

    public SpecDraft verifyOn(String place, String protocol) {
        VerifyOn on = malformed
                .read(() -> ParameterValue.of("kiln.verify.on", VerifyOn.class, place))
                .orElse(verify.on());
        VerifyOver over = malformed
                .read(() -> ParameterValue.of("kiln.verify.over", VerifyOver.class, protocol))
                .orElse(verify.over());
        verify = new VerifySpec(
                on,
                verify.vectors(),
                verify.samples(),
                verify.seed(),
                verify.program(),
                new VerifySpec.Line(over, verify.limits()),
                verify.original());
        return this;
    }

    public SpecDraft farm(Optional<FarmUse> value) {
        farm = value;
        return this;
    }
}
