// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.bean;

/** {@code <mlf>}: what the archive holds. What is not set here comes from {@code kiln.mlf.*}. */
public final class Mlf {
    /** Whether the constants' data is left out of text and parameters. */
    private Boolean slim;

    /** Set by Maven from {@code <slim>}. */
    public void setSlim(Boolean slim) {
        this.slim = slim;
    }

    public Boolean slim() {
        return slim;
    }
}
