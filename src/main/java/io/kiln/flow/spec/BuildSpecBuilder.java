// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.Problem;
import io.kiln.firmware.TrustedArchives;
import io.kiln.firmware.app.Application;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.toolchain.compiler.Libc;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Builds a {@link BuildSpec}, whose components document each value. Text that cannot be parsed is kept in {@link BuildSpec#malformed}.
 */
public final class BuildSpecBuilder {
    private Layout layout;
    private List<ModelSource> models;
    private String board;
    private Optional<String> toolchain = Optional.empty();
    private Optimize optimize = Optimize.SPEED;
    private Io io = Io.CALLER;
    private CallSpec calls = CallSpec.TYPED;
    private int mlfVersion = 7;
    private Optional<Instant> timestamp = Optional.empty();
    private VerifySpec verify = VerifySpec.USUAL;
    private BoardSources boardSources = BoardSources.NONE;
    private PipelineSpec pipeline = PipelineSpec.STANDARD;
    private QuantizeSpec quantize = QuantizeSpec.NONE;
    private boolean semihosting;
    private TrustedArchives trustedArchives = TrustedArchives.NONE;
    private boolean slimArchive;
    private Application application = Application.CONSOLE;
    private CodeSpec code = CodeSpec.NONE;
    private List<String> compilerFlags = List.of();
    private RecordsSpec records = RecordsSpec.USUAL;
    private Optional<FarmUse> farm = Optional.empty();
    private UpdateSpec update = UpdateSpec.NONE;
    private final List<Problem> malformed = new ArrayList<>();

    BuildSpecBuilder(Layout layout, List<ModelSource> models, String board) {
        this.layout = layout;
        this.models = models;
        this.board = board;
    }

    BuildSpecBuilder(BuildSpec spec) {
        this(spec.layout(), spec.models(), spec.board());
        toolchain = spec.toolchain();
        optimize = spec.optimize();
        io = spec.io();
        calls = spec.calls();
        mlfVersion = spec.archive().version();
        timestamp = spec.archive().timestamp();
        verify = spec.verify();
        boardSources = spec.machine().boardSources();
        pipeline = spec.pipeline();
        quantize = spec.quantize();
        semihosting = spec.semihosting();
        trustedArchives = spec.image().trustedArchives();
        slimArchive = spec.archive().slim();
        application = spec.application();
        code = spec.image().code();
        compilerFlags = spec.image().compilerFlags();
        records = spec.compiler().records();
        farm = spec.farm();
        update = spec.update();
        malformed.addAll(spec.malformed());
    }

    /** The build. */
    public BuildSpec build() {
        return new BuildSpec(
                layout,
                models,
                new MachineSpec(board, toolchain, boardSources, update),
                new CompilerSpec(optimize, io, calls, pipeline, quantize, records),
                new ArchiveSpec(mlfVersion, timestamp, slimArchive),
                new ImageSpec(application, code, compilerFlags, trustedArchives, semihosting, verify, farm),
                malformed);
    }

    /** Sets where things lie. */
    public BuildSpecBuilder layout(Layout value) {
        layout = value;
        return this;
    }

    /** Sets the models. */
    public BuildSpecBuilder models(List<ModelSource> value) {
        models = value;
        return this;
    }

    /** Sets the board's id. */
    public BuildSpecBuilder board(String value) {
        board = value;
        return this;
    }

    /** Sets the toolchain; empty for the board's default. */
    public BuildSpecBuilder toolchain(Optional<String> value) {
        toolchain = value;
        return this;
    }

    /** Sets what to optimize for. */
    public BuildSpecBuilder optimize(Optimize value) {
        optimize = value;
        return this;
    }

    /** Sets what to optimize for, as in {@code kiln.optimize}. */
    public BuildSpecBuilder optimize(String text) {
        optimize = read(() -> Optimize.of(text)).orElse(optimize);
        return this;
    }

    /** Sets who owns inputs and outputs. */
    public BuildSpecBuilder io(Io value) {
        io = value;
        return this;
    }

    /** Sets who owns inputs and outputs, as in {@code kiln.io}. */
    public BuildSpecBuilder io(String text) {
        io = read(() -> Io.of(text)).orElse(io);
        return this;
    }

    /** Sets how programs call the models. */
    public BuildSpecBuilder calls(CallSpec value) {
        calls = value;
        return this;
    }

    /**
     * Sets how programs call the models, as the parameters {@code kiln.interfaceApi}, {@code kiln.unpackedApi}, {@code kiln.systemLib} and
     * {@code kiln.disableAssert} have it.
     *
     * @param interfaceApi if it is not set, {@code packed} for the application {@code rpc}, which is set before, else {@code c}
     */
    public BuildSpecBuilder calls(
            Optional<String> interfaceApi, boolean unpackedApi, Optional<Boolean> systemLib, boolean disableAssert) {
        String usual = (application == Application.RPC ? Convention.PACKED : Convention.TYPED).interfaceApi();
        calls = read(() -> CallSpec.of(interfaceApi.orElse(usual), unpackedApi, systemLib, disableAssert))
                .orElse(calls);
        return this;
    }

    /**
     * Sets what calls the operators in order, as {@code kiln.executor} has it, after how programs call the models.
     *
     * @param linkParams whether constants lie in the C
     */
    public BuildSpecBuilder executor(String kind, boolean linkParams) {
        read(() -> ExecutorKind.of(kind)).ifPresent(executor -> calls = calls.with(executor, linkParams));
        return this;
    }

    /** Sets the version of the Model Library Format. */
    public BuildSpecBuilder mlfVersion(int value) {
        mlfVersion = value;
        return this;
    }

    /** Sets the time that the archive states; empty for a fixed date. */
    public BuildSpecBuilder timestamp(Optional<Instant> value) {
        timestamp = value;
        return this;
    }

    /** Sets how the image is verified. */
    public BuildSpecBuilder verify(VerifySpec value) {
        verify = value;
        return this;
    }

    /** Sets where the image is verified and by which protocol, as {@code kiln.verify.on} and {@code kiln.verify.over} have it. */
    public BuildSpecBuilder verifyOn(String place, String protocol) {
        read(() -> VerifyOn.of(place)).ifPresent(on -> verify = verify.with(on));
        read(() -> VerifyOver.of(protocol)).ifPresent(over -> verify = verify.with(over));
        return this;
    }

    /** Sets the sources of boards beside the built-in ones and the project's own. */
    public BuildSpecBuilder boardSources(BoardSources value) {
        boardSources = value;
        return this;
    }

    /** Sets changes to the compiler's passes. */
    public BuildSpecBuilder pipeline(PipelineSpec value) {
        pipeline = value;
        return this;
    }

    /** Sets how float models are quantized first. */
    public BuildSpecBuilder quantize(QuantizeSpec value) {
        quantize = value;
        return this;
    }

    /** Sets how float models are quantized first, as the parameters {@code kiln.quantize} and {@code kiln.quantize.*} have it. */
    public BuildSpecBuilder quantize(QuantizeSpec.Text text) {
        quantize = read(text::parsed).orElse(quantize);
        return this;
    }

    /** Sets whether an image in QEMU may open files and start programs on this computer. */
    public BuildSpecBuilder semihosting(boolean value) {
        semihosting = value;
        return this;
    }

    /** Sets the archives whose C is compiled like the user's own. */
    public BuildSpecBuilder trustedArchives(TrustedArchives value) {
        trustedArchives = value;
        return this;
    }

    /** Sets whether the archive omits the constants' data. */
    public BuildSpecBuilder slimArchive(boolean value) {
        slimArchive = value;
        return this;
    }

    /** Sets the project's own code. */
    public BuildSpecBuilder code(CodeSpec value) {
        code = value;
        return this;
    }

    /** Sets the C library of the project's own code, as {@code kiln.libc} has it. */
    public BuildSpecBuilder libc(String text) {
        code = code.with(read(() -> Libc.of(text)).orElse(code.libc()));
        return this;
    }

    /** Sets how the image is updated in the field. */
    public BuildSpecBuilder update(Supplier<UpdateSpec> value) {
        update = read(value).orElse(update);
        return this;
    }

    /** Sets further flags of the C compiler. */
    public BuildSpecBuilder compilerFlags(List<String> value) {
        compilerFlags = value;
        return this;
    }

    /** Sets the tuning records that choose schedules. */
    public BuildSpecBuilder records(Supplier<RecordsSpec> value) {
        records = read(value).orElse(records);
        return this;
    }

    /** Sets the farm that runs images; empty for this computer. */
    public BuildSpecBuilder farm(Optional<FarmUse> value) {
        farm = value;
        return this;
    }

    /** Sets what runs on the image, as {@code kiln.application} has it. */
    public BuildSpecBuilder application(String text) {
        application = read(() -> Application.of(text)).orElse(application);
        return this;
    }

    /** Applies the settings of {@code kiln.passConfig}. They take precedence, so this follows the setters of the same values. */
    public BuildSpecBuilder passConfig(List<String> settings) {
        PassConfig config = read(() -> PassConfig.parse(settings)).orElse(PassConfig.NONE);
        io = config.io().orElse(io);
        pipeline = config.fuseMaxDepth().map(pipeline::withFuseMaxDepth).orElse(pipeline);
        calls = calls.with(config);
        return this;
    }

    private <T> Optional<T> read(Supplier<T> parsed) {
        try {
            return Optional.of(parsed.get());
        } catch (KilnException e) {
            malformed.addAll(e.problems());
            return Optional.empty();
        }
    }
}
