// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Bytes;
import java.util.List;
import java.util.Locale;

/** The signal processing that turns audio into the input of one model. */
public final class ModelPreprocessing {
    private final PreprocessPlan plan;
    private final InterfaceNames names;
    private final String source;

    ModelPreprocessing(PreprocessPlan plan, InterfaceNames names, String source) {
        this.plan = plan;
        this.names = names;
        this.source = source.substring(Math.max(source.lastIndexOf('/'), source.lastIndexOf('\\')) + 1);
    }

    /** The C library: a header and a source. */
    public List<Artifact> code() {
        return new PreprocessCode(plan, names, source).files();
    }

    /** Samples of audio for one input. */
    public int samples() {
        return plan.samples();
    }

    /** Rows of one input. */
    public int frames() {
        return plan.frames();
    }

    /** Features of a row. */
    public int features() {
        return plan.features();
    }

    /** Bytes of its constant tables. */
    public int tableBytes() {
        return plan.tableBytes();
    }

    /** Bytes of its state. */
    public int stateBytes() {
        return plan.stateBytes();
    }

    /** Samples per second. */
    public int sampleRate() {
        return plan.pipeline().sampleRate();
    }

    /**
     * The model's input for a recording, as the C gives it.
     *
     * @param audio {@link #samples()} or more
     */
    public Bytes input(short[] audio) {
        return new FeatureInterpreter(plan).input(audio);
    }

    /** Its stages and its cost, in one line. */
    public String summary() {
        return String.format(
                Locale.ROOT,
                "Preprocessing of %s: %,d samples at %,d Hz become %d rows of %d features, %,d bytes of tables, %,d of state",
                names.model(),
                plan.samples(),
                plan.pipeline().sampleRate(),
                plan.frames(),
                plan.features(),
                plan.tableBytes(),
                plan.stateBytes());
    }
}
