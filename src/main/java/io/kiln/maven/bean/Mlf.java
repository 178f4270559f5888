// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.bean;

/** {@code <mlf>}: what the archive holds. Unset elements default to {@code kiln.mlf.*}. */
public final class Mlf {
    /** Whether text and parameters omit the constants' data. */
    private Boolean slim;

    /** Set by Maven from {@code <slim>}. */
    public void setSlim(Boolean slim) {
        this.slim = slim;
    }

    public Boolean slim() {
        return slim;
    }
}
