/* The machine code of resident.cu: an assembler file because ccache does not see what `.incbin` reads. */
.section .rodata
.balign 64
.globl mmadiff_resident_image
mmadiff_resident_image:
.incbin MMADIFF_RESIDENT_IMAGE
.globl mmadiff_resident_image_end
mmadiff_resident_image_end:
.byte 0
.section .note.GNU-stack,"",%progbits
