// SPDX-License-Identifier: Apache-2.0
/** Makes functions of the IR from the syntax tree of Relay text. */
package io.kiln.frontend.relay.build;
