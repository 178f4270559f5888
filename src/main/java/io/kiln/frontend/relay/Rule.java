// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

/** Makes operators of a call. */
interface Rule {
    /**
     * What the call computes.
     *
     * @throws IllegalArgumentException with a sentence for users if that is not supported
     */
    Value apply(CallSite call);
}
