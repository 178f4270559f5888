// SPDX-License-Identifier: Apache-2.0
/** The graph IR: a flat, typed form of Relay. */
package io.kiln.ir;
