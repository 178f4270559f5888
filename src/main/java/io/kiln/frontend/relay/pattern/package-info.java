// SPDX-License-Identifier: Apache-2.0
/** Recognises chains of canonical Relay operators that are one operator of the IR. */
package io.kiln.frontend.relay.pattern;
