// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.bean;

import java.io.File;

/** {@code <verify>}: how the image is verified. Unset elements default to {@code kiln.verify.*}. */
public final class Verify {
    /** {@code emulator}, {@code board} or {@code none}. */
    private String on;

    /** A folder of {@code input_<k>.bin} and optional {@code output_<k>.bin}. */
    private File vectors;

    /** Number of random cases. */
    private Integer samples;

    /** Their seed. */
    private Long seed;

    /** Seconds for which the project's own program is watched. */
    private Integer program;

    /** {@code console} or {@code rpc}. */
    private String over;

    /** Set by Maven from {@code <on>}. */
    public void setOn(String on) {
        this.on = on;
    }

    /** Set by Maven from {@code <vectors>}. */
    public void setVectors(File vectors) {
        this.vectors = vectors;
    }

    /** Set by Maven from {@code <samples>}. */
    public void setSamples(Integer samples) {
        this.samples = samples;
    }

    /** Set by Maven from {@code <seed>}. */
    public void setSeed(Long seed) {
        this.seed = seed;
    }

    /** Set by Maven from {@code <program>}. */
    public void setProgram(Integer program) {
        this.program = program;
    }

    /** Set by Maven from {@code <over>}. */
    public void setOver(String over) {
        this.over = over;
    }

    public String on() {
        return on;
    }

    public File vectors() {
        return vectors;
    }

    public Integer samples() {
        return samples;
    }

    public Long seed() {
        return seed;
    }

    public Integer program() {
        return program;
    }

    public String over() {
        return over;
    }
}
