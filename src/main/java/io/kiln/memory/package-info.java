// SPDX-License-Identifier: Apache-2.0
/** Static memory planning: assigns offsets in one workspace to buffers with lifetimes. */
package io.kiln.memory;
