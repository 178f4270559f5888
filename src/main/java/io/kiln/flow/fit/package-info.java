// SPDX-License-Identifier: Apache-2.0
/** The fastest build that fits in memory: measures builds for different goals, mixes them layer by layer, and keeps the choice. */
package io.kiln.flow.fit;
